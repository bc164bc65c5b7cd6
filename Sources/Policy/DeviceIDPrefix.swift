// SPDX-License-Identifier: Apache-2.0

/// The beginning of a device's Sill ID, as people type it (07): at least 4 of its 16 characters, as the first bits of
/// the fingerprint they are made of.
package struct DeviceIDPrefix: Sendable, Equatable {
    /// The least that is looked up.
    package static let minimumLength = 4

    /// As given.
    package let text: String
    /// The first 60 bits at most, left-aligned: where an index in ID order begins.
    package let leadingBits: UInt64

    /// Nil for a text that is no beginning of an ID: too short, too long, or with another character.
    package init?(_ text: String) {
        guard (Self.minimumLength...16).contains(text.utf8.count) else { return nil }
        var bits: UInt64 = 0
        var used: UInt64 = 0
        for unit in text.utf8 {
            guard let value = Self.alphabet.firstIndex(of: unit) else { return nil }
            guard used < 60 else { continue }
            used += 5
            bits |= UInt64(value) << (64 - used)
        }
        self.text = text
        leadingBits = bits
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
}
