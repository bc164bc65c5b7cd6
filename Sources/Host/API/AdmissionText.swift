// SPDX-License-Identifier: Apache-2.0

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
                guard Self.matches(body, at..<min(at + 4, body.count), "null") else { return nil }
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
        switch name.count {
        case 4 where matches(body, name, "door"): .door
        case 4 where matches(body, name, "alpn"): .alpn
        case 5 where matches(body, name, "local"): .local
        case 6 where matches(body, name, "remote"): .remote
        case 9 where matches(body, name, "interface"): .interface
        case 11 where matches(body, name, "fingerprint"): .fingerprint
        default: nil
        }
    }

    private static func matches(_ body: Span<UInt8>, _ range: Range<Int>, _ text: String) -> Bool {
        guard range.count == text.utf8.count else { return false }
        var at = range.lowerBound
        for byte in text.utf8 {
            if body[at] != byte { return false }
            at += 1
        }
        return true
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
            if byte < 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\\") { return nil }
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
