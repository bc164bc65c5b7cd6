// SPDX-License-Identifier: Apache-2.0

package import LatchkeyDevice

/// What `latchkey-device` ends with (spec 09 point 31).
package struct ExitCode: RawRepresentable, Equatable, Sendable {
    /// What the shell sees.
    package let rawValue: Int32

    /// A code by its number.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// It was done.
    package static let done = ExitCode(rawValue: 0)
    /// The host said no; its reason is on standard error, and in the JSON.
    package static let refused = ExitCode(rawValue: 1)
    /// The command line makes no sense, or the device's own directory cannot be used.
    package static let usage = ExitCode(rawValue: 2)
    /// No host answered.
    package static let noAnswer = ExitCode(rawValue: 3)
    /// No host of that ID is saved.
    package static let unknownHost = ExitCode(rawValue: 4)
    /// What answered is not the host that was meant.
    package static let anotherKey = ExitCode(rawValue: 5)

    /// The code of a failure.
    package init(_ error: DeviceError) {
        self =
            switch error.code {
            case .badAddress, .badLink, .codeLength, .codeTypo, .noAddress, .storage: .usage
            case .unknownHost: .unknownHost
            case .wrongHost, .badAnswer: .anotherKey
            case .noAnswer, .nameNotFound, .notSill, .vpnOff, .localNetwork, .lost: .noAnswer
            // A port nobody listens on answers nothing; a listener that hangs up is a host that said no.
            case .refused: error.reachedPeer ? .refused : .noAnswer
            default: .refused
            }
    }
}
