// Who may call at all, before any route. SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The `Host` and `Origin` rules (spec 07, 09.17): a page in a browser must not reach this API, neither by its own
/// name for 127.0.0.1 (DNS rebinding) nor from its own origin.
struct CallerRules: Sendable {
    private let hosts: [[UInt8]]
    private let origins: [[UInt8]]

    /// The rules for the TCP port the server listens on; nil when it listens on none, and then no origin is ours.
    init(port: UInt16?) {
        guard let port else {
            hosts = []
            origins = []
            return
        }
        let names = ["127.0.0.1", "localhost", "[::1]"]
        // RFC 9110 section 4.2.1: without a port it is 80.
        hosts = names.map { Array("\($0):\(port)".utf8) } + (port == 80 ? names.map { Array($0.utf8) } : [])
        origins = hosts.map { Array("http://".utf8) + $0 }
    }

    /// Whether a `Host` header's value is one of ours.
    func allowsHost(_ value: Span<UInt8>) -> Bool {
        hosts.contains { ASCII.matches(value, $0) }
    }

    /// Whether an `Origin` header's value is one of ours.
    func allowsOrigin(_ value: Span<UInt8>) -> Bool {
        origins.contains { ASCII.matches(value, $0) }
    }

    /// Whether a `Referer` header's value is a page of ours: our origin, alone or with a path.
    func allowsReferer(_ value: Span<UInt8>) -> Bool {
        origins.contains { origin in
            guard value.count >= origin.count, ASCII.matches(value.extracting(first: origin.count), origin)
            else {
                return false
            }
            return value.count == origin.count || value[origin.count] == UInt8(ascii: "/")
        }
    }
}

/// Comparing header bytes without making strings of them.
enum ASCII {
    /// Whether `bytes` are `lowercase`, which has no capital letter, in any case.
    static func matches(_ bytes: Span<UInt8>, _ lowercase: [UInt8]) -> Bool {
        guard bytes.count == lowercase.count else { return false }
        for index in lowercase.indices where lower(bytes[index]) != lowercase[index] { return false }
        return true
    }

    /// Whether both are the same bytes.
    static func areSame(_ bytes: Span<UInt8>, _ other: [UInt8]) -> Bool {
        guard bytes.count == other.count else { return false }
        for index in other.indices where bytes[index] != other[index] { return false }
        return true
    }

    /// The lower-case letter of a capital one, anything else as it is.
    static func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The token of an `Authorization` value with scheme Bearer (RFC 6750 section 2.1), nil for other schemes.
    static func bearer(_ value: Span<UInt8>) -> String? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, matches(value.extracting(first: scheme.count), scheme) else {
            return nil
        }
        var token: [UInt8] = []
        for index in scheme.count..<value.count where value[index] != UInt8(ascii: " ") {
            token.append(value[index])
        }
        return String(validating: token, as: UTF8.self)
    }
}
