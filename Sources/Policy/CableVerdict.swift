// SPDX-License-Identifier: Apache-2.0

/// Whether a connection is the USB cable of an iPhone or iPad (04 §3). Anything unread or doubtful is not.
package enum CableVerdict: Sendable, Equatable {
    /// All of the rule held.
    case cable(CableFinding)
    /// The first that failed.
    case not(CableReason)

    /// What was found, when it is the cable.
    package var finding: CableFinding? {
        if case .cable(let finding) = self { finding } else { nil }
    }
}

/// What the cable rule found.
package struct CableFinding: Sendable, Equatable {
    /// The hashed serial of the device (04 §6), 22 characters. Never logged, never shown.
    package var device: String
    /// This plugging-in: `busnum:devnum/ifindex`, such as `3:17/9` (04 §7).
    package var plug: String
    /// The interface, such as `usb0`.
    package var interface: String

    package init(device: String, plug: String, interface: String) {
        self.device = device
        self.plug = plug
        self.interface = interface
    }
}

// `device` must not get into a line that somebody writes about a verdict; a mirror is what `dump` and the description
// of whatever holds a finding are made from.
extension CableFinding: CustomStringConvertible, CustomReflectable {
    /// What may be logged: interface and plugging-in.
    package var description: String { "\(interface) \(plug)" }

    package var customMirror: Mirror {
        Mirror(self, children: ["plug": plug, "interface": interface], displayStyle: .struct)
    }
}

/// Why something is not the cable (04 §8). For debug logs and `latchkey print-cable`, never for a device.
package enum CableReason: String, Sendable, CaseIterable, Hashable {
    /// The source is no IPv6 link-local address.
    case notLinkLocal
    /// The source names no interface.
    case noZone
    /// The source is an address of this machine.
    case ownAddress
    /// No interface has the zone's index.
    case noInterface
    /// The name belongs to another interface by now, or to one of another namespace.
    case indexChanged
    /// Not `ARPHRD_ETHER`.
    case notEthernet
    /// Down, a loopback, point-to-point, or without address resolution.
    case flags
    /// A member or the base of another interface.
    case stacked
    /// Virtual, or on another bus.
    case notUSB
    /// `ipheth`: the phone's way to its carrier.
    case personalHotspot
    /// Not CDC NCM.
    case wrongFunction
    /// Not `cdc_ncm`.
    case wrongDriver
    /// Not Apple's.
    case wrongVendor
    /// Neither `iPhone` nor `iPad`.
    case wrongProduct
    /// The device tells no serial number.
    case noSerial
    /// The kernel was told not to use the device.
    case unauthorized
    /// USB over IP or an emulated host.
    case virtualBus
    /// Something became another while it was read.
    case changed
    /// A file could not be read, or the time was up.
    case unreadable
    /// The kernel's neighbour table does not show a real other end (04 §3.4).
    case neighbour
}
