// SPDX-License-Identifier: Apache-2.0

/// One message of a netlink datagram, its body not yet understood (netlink(7)).
struct NetlinkMessage: Equatable {
    /// `NLMSG_*` below 16, `RTM_*` from there.
    var type: UInt16
    var flags: UInt16
    /// The request's number, in its answer.
    var sequence: UInt32
    var body: ArraySlice<UInt8>

    /// The numbers of the kernel's interface, which never change.
    enum Kind {
        static let error: UInt16 = 2
        static let done: UInt16 = 3
        static let newLink: UInt16 = 16
        static let getLink: UInt16 = 18
        static let newAddress: UInt16 = 20
        static let getAddress: UInt16 = 22
        static let newRoute: UInt16 = 24
        static let getRoute: UInt16 = 26
        static let newNeighbour: UInt16 = 28
        static let getNeighbour: UInt16 = 30
    }

    /// `NLM_F_DUMP_INTR`: something changed while the dump ran, so it may be of two moments.
    static let interruptedFlag: UInt16 = 0x10
    private static let headerSize = 16

    /// The messages of one datagram. A length that does not fit ends the list: what follows cannot be found.
    static func all(in datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = datagram[...]
        while let length = rest.number32(at: 0).map(Int.init), length >= headerSize, length <= rest.count,
            let type = rest.number16(at: 4), let flags = rest.number16(at: 6),
            let sequence = rest.number32(at: 8)
        {
            let body = rest.dropFirst(headerSize).prefix(length - headerSize)
            messages.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, body: body))
            rest = rest.dropFirst(aligned(length))
        }
        return messages
    }

    /// What the kernel answered with, for an error message: 0 for an acknowledgement, else an `errno`.
    var errorNumber: Int32? {
        guard type == Kind.error, let raw = body.number32(at: 0) else { return nil }
        let code = Int32(bitPattern: raw)
        return code == .min ? nil : abs(code)
    }

    /// A request with its header. `body` begins with the family's own header.
    static func request(_ type: UInt16, flags: UInt16, sequence: UInt32, body: [UInt8]) -> [UInt8] {
        bytes(UInt32(headerSize + body.count)) + bytes(type) + bytes(flags) + bytes(sequence)
            + bytes(UInt32(0)) + body
    }

    /// An attribute with its padding.
    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let whole = bytes(UInt16(4 + value.count)) + bytes(type) + value
        return whole + [UInt8](repeating: 0, count: aligned(whole.count) - whole.count)
    }
}

/// The attributes of a message, by type; a type that comes twice counts by its first (rtnetlink(7)).
struct NetlinkAttributes {
    private var values: [UInt16: ArraySlice<UInt8>] = [:]

    /// Reads what fits; an attribute that does not ends the list.
    init(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while let length = rest.number16(at: 0).map(Int.init), length >= 4, length <= rest.count,
            let type = rest.number16(at: 2)
        {
            // The two highest bits mark nested and big-endian values.
            let plain = type & 0x3FFF
            if values[plain] == nil { values[plain] = rest.dropFirst(4).prefix(length - 4) }
            rest = rest.dropFirst(aligned(length))
        }
    }

    subscript(type: UInt16) -> ArraySlice<UInt8>? { values[type] }

    func number32(_ type: UInt16) -> UInt32? { values[type]?.number32(at: 0) }

    /// Text up to its zero byte.
    func text(_ type: UInt16) -> String? {
        values[type].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension ArraySlice<UInt8> {
    /// A number in the machine's byte order; nil when it would reach past the end.
    func number16(at offset: Int) -> UInt16? {
        guard offset >= 0, count >= 2, offset <= count - 2 else { return nil }
        let at = startIndex + offset
        return UInt16(littleEndian: UInt16(self[at]) | UInt16(self[at + 1]) << 8)
    }

    func number32(at offset: Int) -> UInt32? {
        guard offset >= 0, count >= 4, offset <= count - 4 else { return nil }
        let at = startIndex + offset
        return UInt32(
            littleEndian: UInt32(self[at]) | UInt32(self[at + 1]) << 8 | UInt32(self[at + 2]) << 16
                | UInt32(self[at + 3]) << 24)
    }

    func byte(at offset: Int) -> UInt8? {
        offset >= 0 && offset < count ? self[startIndex + offset] : nil
    }
}

/// Up to the next multiple of four, as netlink aligns messages and attributes.
private func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

/// A number's bytes in the machine's order.
func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    let little = number.littleEndian
    return (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: little >> ($0 * 8)) }
}
