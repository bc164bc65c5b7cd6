// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The members of an admission's body when all of it is plain text or null, read without a tree.
///
/// Nearly every body of the API's hot call is such: reading it this way costs a fraction of reading it as JSON. Whatever
/// is not, or not surely, gives nil and takes the long way, which also finds the words for what is wrong. So this never
/// decides that a body is bad.
struct AdmissionText {
    /// The members, by their place in `places`.
    enum Member: Int { case door, remote, local, interface, alpn, fingerprint }

    /// Where the members' texts are in the body. Absent and null ones are at 0, where no text can be.
    private var places: InlineArray<6, Range<Int>> = .init(repeating: 0..<0)

    /// Reads one object; members that are not asked for are passed over.
    init?(_ body: Span<UInt8>) {
        var at = 0
        guard Self.take(UInt8(ascii: "{"), body, &at) else { return nil }
        repeat {
            guard let name = Self.quoted(body, &at), Self.take(UInt8(ascii: ":"), body, &at) else {
                return nil
            }
            let member = Self.member(name, body)
            Self.skipSpace(body, &at)
            if at < body.count, body[at] == UInt8(ascii: "n") {
                guard Self.isNull(body, at: at) else { return nil }
                at += 4
                // The first of two members with one name counts, and a null leaves no trace: the long way.
                if let member, places[member.rawValue].lowerBound != 0 { return nil }
            } else {
                guard let value = Self.quoted(body, &at) else { return nil }
                if let member {
                    guard places[member.rawValue].lowerBound == 0 else { return nil }
                    places[member.rawValue] = value
                }
            }
        } while Self.take(UInt8(ascii: ","), body, &at)
        guard Self.take(UInt8(ascii: "}"), body, &at) else { return nil }
        Self.skipSpace(body, &at)
        guard at == body.count else { return nil }
    }

    /// Where a member's text is; nil: absent or null.
    subscript(_ member: Member) -> Range<Int>? {
        let place = places[member.rawValue]
        return place.lowerBound == 0 ? nil : place
    }

    private static func member(_ name: Range<Int>, _ body: Span<UInt8>) -> Member? {
        guard let name = ShortName(body.extracting(name)) else { return nil }
        // Written out: a constant that is made when first used would be asked for each time whether it is there.
        switch (name.count, name.high, name.low) {
        case (4, 0x646F_6F72, 0): return .door
        case (4, 0x616C_706E, 0): return .alpn
        case (5, 0x6C_6F63_616C, 0): return .local
        case (6, 0x7265_6D6F_7465, 0): return .remote
        case (9, 0x696E_7465_7266_6163, 0x65): return .interface
        case (11, 0x6669_6E67_6572_7072, 0x69_6E74): return .fingerprint
        default: return nil
        }
    }

    /// Whether "null" stands at a place.
    private static func isNull(_ body: Span<UInt8>, at: Int) -> Bool {
        let word = ShortName(body.extracting(at..<min(at + 4, body.count)))
        return word?.high == 0x6E75_6C6C
    }

    /// The inside of a quoted text of ASCII without escapes.
    private static func quoted(_ body: Span<UInt8>, _ at: inout Int) -> Range<Int>? {
        guard take(UInt8(ascii: "\""), body, &at) else { return nil }
        let start = at
        while at < body.count {
            let byte = body[at]
            if byte == UInt8(ascii: "\"") {
                at += 1
                return start..<(at - 1)
            }
            // 0x20 to 0x7E, in one comparison.
            if byte &- 0x20 >= 0x5F || byte == UInt8(ascii: "\\") { return nil }
            at += 1
        }
        return nil
    }

    private static func take(_ byte: UInt8, _ body: Span<UInt8>, _ at: inout Int) -> Bool {
        skipSpace(body, &at)
        guard at < body.count, body[at] == byte else { return false }
        at += 1
        return true
    }

    private static func skipSpace(_ body: Span<UInt8>, _ at: inout Int) {
        while at < body.count, body[at] == 0x20 || body[at] == 0x09 || body[at] == 0x0A || body[at] == 0x0D {
            at += 1
        }
    }
}
