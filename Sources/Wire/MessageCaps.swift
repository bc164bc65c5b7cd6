// SPDX-License-Identifier: Apache-2.0

/// The largest payloads, in bytes; one byte more closes the connection (file 01 §3).
package enum MessageCaps {
    /// Any message of a session from a device, the hello that the gate reads included.
    package static let fromDevice = 1_048_576
    /// The one message each way of a pairing connection; 0 is refused there as well.
    package static let pairing = 4_096
    /// A video frame.
    package static let frame = 33_554_432
    /// Any other message of a session from a host.
    package static let fromHost = 4_194_304

    /// The cap of a session's message from host to device. Kind 20 has its own cap on pairing connections only; in a
    /// session it is noise like any other kind that does not belong there (file 09, rule 10).
    package static func hostToDevice(_ kind: MessageKind) -> Int {
        kind == .frame ? frame : fromHost
    }
}
