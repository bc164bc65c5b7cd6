// SPDX-License-Identifier: Apache-2.0

/// What a message is (file 01 §2). Numbers without a name here are later kinds, which readers skip.
package struct MessageKind: RawRepresentable, Hashable, Sendable {
    /// The number in the header.
    package var rawValue: UInt8

    /// The kind with this number, named or not.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Video set-up, host to device.
    package static let parameterSets = MessageKind(rawValue: 0)
    /// Video, host to device; the only kind with the frame cap.
    package static let frame = MessageKind(rawValue: 1)
    /// The first message of a session's catalog: it makes a device count as connected.
    package static let windowList = MessageKind(rawValue: 2)
    /// Picture of a window, host to device.
    package static let thumbnail = MessageKind(rawValue: 3)
    /// Picture of an app, host to device.
    package static let appIcon = MessageKind(rawValue: 4)
    /// The apps that can be launched, host to device.
    package static let appList = MessageKind(rawValue: 5)
    /// What to stream, device to host.
    package static let selectSource = MessageKind(rawValue: 6)
    /// Device to host.
    package static let launchApp = MessageKind(rawValue: 7)
    /// Touches and keys, device to host.
    package static let input = MessageKind(rawValue: 8)
    /// The device's visible area, device to host.
    package static let viewport = MessageKind(rawValue: 9)
    /// The device's clock in eight bytes, opaque to the host.
    package static let ping = MessageKind(rawValue: 10)
    /// A ping's payload and timestamp, sent back.
    package static let pong = MessageKind(rawValue: 11)
    /// The device's measurements, about once a second.
    package static let clientStats = MessageKind(rawValue: 12)
    /// Empty, host to device.
    package static let tick = MessageKind(rawValue: 13)
    /// Host to device.
    package static let cursorShape = MessageKind(rawValue: 14)
    /// Device to host.
    package static let windowCommand = MessageKind(rawValue: 15)
    /// Host to device; tells a device that the host has settings.
    package static let hostSettings = MessageKind(rawValue: 16)
    /// Device to host.
    package static let changeSettings = MessageKind(rawValue: 17)
    /// The signed host info, "macInfo" in the protocol's own words (file 01 §6).
    package static let hostInfo = MessageKind(rawValue: 18)
    /// The one message a device sends on a pairing connection (file 02 §5.3).
    package static let pairRequest = MessageKind(rawValue: 19)
    /// The one answer to it (file 02 §5.4).
    package static let pairResult = MessageKind(rawValue: 20)
    /// "Show your code", empty, in a session at the home door (file 02 §8.6).
    package static let pairingWanted = MessageKind(rawValue: 21)
    /// Why a session is about to be closed (file 01 §7).
    package static let goodbye = MessageKind(rawValue: 22)
    /// The first message of every session (file 01 §8.1).
    package static let hello = MessageKind(rawValue: 23)
    /// Host to device, only to one that sent ``fetchMenu``.
    package static let hostMenu = MessageKind(rawValue: 24)
    /// Device to host.
    package static let pressMenuItem = MessageKind(rawValue: 25)
    /// Where the host's pointer is, host to device.
    package static let hostPointer = MessageKind(rawValue: 26)
    /// Device to host.
    package static let fetchMenu = MessageKind(rawValue: 27)
    /// Device to host, only to one whose window list says it takes them.
    package static let trackpadGesture = MessageKind(rawValue: 28)
    /// Host to device, only to one whose hello lists a codec.
    package static let audio = MessageKind(rawValue: 29)
}
