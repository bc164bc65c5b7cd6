// SPDX-License-Identifier: Apache-2.0

extension PairingLink {
    /// Reads a link. Problems are looked for in the order of file 02 §3.3; the first that applies is thrown.
    package static func parse(_ typed: String) throws(LinkProblem) -> PairingLink {
        let items = try queryItems(ofLink: typed.trimmed)

        /// The value of a key that has to occur exactly once and to hold something.
        func single(_ key: String) -> String? {
            let found = items.filter { $0.key == key }
            guard found.count == 1, let value = found[0].value, !value.isEmpty else { return nil }
            return value
        }

        guard let version = single("v"), version.isSameBytes(as: "1") else { throw .version }
        guard let hostID = single("m").flatMap({ SillID($0) }) else { throw .field("m") }
        guard let fingerprint = single("k").flatMap({ Fingerprint(base64url: $0) }) else { throw .field("k") }
        guard let secret = single("s").flatMap({ Base64URL.decode($0) }), secret.count == secretLength else {
            throw .field("s")
        }
        guard let port = single("p").flatMap({ parsePort($0) }) else { throw .field("p") }
        guard hostID == fingerprint.id else { throw .macIDMismatch }
        var addresses: [DialAddress] = []
        for item in items where item.key == "a" {
            let value = item.value ?? ""
            do {
                addresses.append(try DialAddress.parse(value))
            } catch {
                throw .address(value, error)
            }
        }
        // The initializer cleans the name and keeps the first five addresses; all of them were checked.
        let name = items.first { $0.key == "n" }?.value ?? ""
        return PairingLink(
            fingerprint: fingerprint, secret: secret, name: name, port: port, addresses: addresses)
    }
}

/// One `key=value` of a query, percent escapes resolved. Nil is a value that is missing, or is no text.
private struct QueryItem {
    var key: String
    var value: String?
}

/// The items of `sill://pair?…`; user info, port and fragment are ignored, and so are empty items.
private func queryItems(ofLink text: String) throws(LinkProblem) -> [QueryItem] {
    let units = Array(text.utf8)
    let beginning = Array("sill://".utf8)
    guard units.prefix(beginning.count).map(\.asciiLowercased) == beginning else { throw .notALink }
    let beforeFragment = units.dropFirst(beginning.count).prefix { $0 != UInt8(ascii: "#") }
    guard let mark = beforeFragment.firstIndex(of: UInt8(ascii: "?")) else { throw .notALink }
    try checkAuthorityAndPath(beforeFragment[..<mark])
    var items: [QueryItem] = []
    for item in beforeFragment[(mark + 1)...].split(separator: UInt8(ascii: "&")) {
        let equals = item.firstIndex(of: UInt8(ascii: "="))
        // A key that does not decode is unknown, and unknown keys are ignored.
        guard let key = percentDecoded(item[..<(equals ?? item.endIndex)]) else { continue }
        items.append(QueryItem(key: key, value: equals.flatMap { percentDecoded(item[($0 + 1)...]) }))
    }
    return items
}

/// What stands between `sill://` and `?`: the host `pair`, perhaps with user info, port and an empty path.
private func checkAuthorityAndPath(_ units: ArraySlice<UInt8>) throws(LinkProblem) {
    let slash = units.firstIndex(of: UInt8(ascii: "/")) ?? units.endIndex
    guard units.endIndex - slash <= 1 else { throw .notALink }
    var host = units[..<slash]
    if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
    if let colon = host.firstIndex(of: UInt8(ascii: ":")) {
        guard host[(colon + 1)...].allSatisfy(\.isASCIIDigit) else { throw .notALink }
        host = host[..<colon]
    }
    guard host.map(\.asciiLowercased) == Array("pair".utf8) else { throw .notALink }
}

/// The text of percent-encoded UTF-8; nil for a broken escape or bytes that are no UTF-8. `+` is a plus sign.
private func percentDecoded(_ units: ArraySlice<UInt8>) -> String? {
    var out: [UInt8] = []
    out.reserveCapacity(units.count)
    var index = units.startIndex
    while index < units.endIndex {
        guard units[index] == UInt8(ascii: "%") else {
            out.append(units[index])
            index += 1
            continue
        }
        guard index + 2 < units.endIndex, let high = Hex.value(of: units[index + 1]),
            let low = Hex.value(of: units[index + 2])
        else { return nil }
        out.append(high << 4 | low)
        index += 3
    }
    return String(validating: out, as: UTF8.self)
}
