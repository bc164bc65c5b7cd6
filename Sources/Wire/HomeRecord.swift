// SPDX-License-Identifier: Apache-2.0

/// The texts of a home door's DNS-SD record (02 §7.3): written by a host, read by a device before it dials. Anybody on the
/// network can write them; neither key authenticates anything.
package struct HomeRecord: Sendable, Equatable {
    /// What the record's `p` says of the door.
    package enum Door: Sendable, Equatable {
        /// No `p`: a door of a development build, without TLS.
        case plain
        /// Exactly `0`: any device may connect.
        case open
        /// Anything else.
        case pairingRequired
    }

    /// The record's `r`; nil when it has none. Empty when it is no text at all, which names nobody either.
    package let tag: String?
    /// The record's `p`.
    package let door: Door

    /// As many texts as are looked at: a record of ours has two, and one on a network may have thousands.
    package static let mostTexts = 64

    /// Reads a record's texts, `key=value` each; what is none of ours is ignored. A key's letter case does not matter,
    /// but the lower-case one counts when both are there; of the same key twice the first counts (RFC 6763 §6.4).
    package init(_ texts: [[UInt8]]) {
        func value(of key: UInt8) -> [UInt8]? {
            func find(_ letter: UInt8) -> [UInt8]? {
                let text = texts.prefix(Self.mostTexts).first {
                    $0.first == letter && ($0.count == 1 || $0[1] == Self.equals)
                }
                return text.map { Array($0.dropFirst(2)) }
            }
            return find(key) ?? find(key - 32)
        }
        tag = value(of: UInt8(ascii: "r")).map { String(validating: $0, as: UTF8.self) ?? "" }
        door =
            switch value(of: UInt8(ascii: "p")) {
            case nil: .plain
            case [UInt8(ascii: "0")]: .open
            default: .pairingRequired
            }
    }

    private static let equals = UInt8(ascii: "=")

    /// The texts of a door that speaks TLS.
    package static func texts(tag: String, isPairingRequired: Bool) -> [[UInt8]] {
        [Array("r=\(tag)".utf8), Array("p=\(isPairingRequired ? 1 : 0)".utf8)]
    }
}
