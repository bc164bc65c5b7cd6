// The few request headers that matter. SPDX-License-Identifier: Apache-2.0

internal import Wire

/// Collects, in one pass over a request's headers, what the rules and handlers need. One per server thread and used
/// again for every request, so that an ordinary request allocates nothing for its headers.
final class HeaderScan {
    private let rules: CallerRules

    /// Whether there was a `Host`.
    private(set) var hasHost = false
    /// Whether every `Host` was one of ours.
    private(set) var hostsAreOurs = true
    /// Whether every `Origin` and `Referer` was ours; true without any.
    private(set) var originsAreOurs = true
    /// The `Authorization` value; empty without one, and when it is the proved one.
    private(set) var authorization: [UInt8] = []
    /// Whether the `Authorization` value is the one the connection has proved before.
    private(set) var isProved = false
    /// The `Content-Length`; nil without one (no body, or a chunked one).
    private(set) var contentLength: Int?
    /// Whether the client waits for leave to send its body.
    private(set) var expectsContinue = false
    /// The `Last-Event-ID`.
    private(set) var lastEventID: String?

    init(rules: CallerRules) {
        self.rules = rules
        authorization.reserveCapacity(64)
    }

    private var proved: [UInt8] = []

    /// Forgets the last request. `proved`: the `Authorization` value that need not be judged again; empty: none.
    func reset(proved: [UInt8]) {
        self.proved = proved
        isProved = false
        hasHost = false
        hostsAreOurs = true
        originsAreOurs = true
        authorization.removeAll(keepingCapacity: true)
        contentLength = nil
        expectsContinue = false
        lastEventID = nil
    }

    /// Takes one header.
    func header(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        switch name.count {
        case 4 where Self.matches(name, "host"):
            hasHost = true
            if !rules.allowsHost(value) { hostsAreOurs = false }
        case 6 where Self.matches(name, "origin"):
            if !rules.allowsOrigin(value) { originsAreOurs = false }
        case 6 where Self.matches(name, "expect"): expectsContinue = true
        case 7 where Self.matches(name, "referer"):
            if !rules.allowsReferer(value) { originsAreOurs = false }
        case 13 where Self.matches(name, "authorization"):
            isProved = !proved.isEmpty && ASCII.areSame(value, proved)
            authorization.removeAll(keepingCapacity: true)
            if !isProved { for index in value.indices { authorization.append(value[index]) } }
        case 13 where Self.matches(name, "last-event-id"): lastEventID = Self.text(value)
        case 14 where Self.matches(name, "content-length"): contentLength = Int(Self.text(value))
        default: break
        }
    }

    /// `lowercase` has as many bytes as `bytes`.
    private static func matches(_ bytes: Span<UInt8>, _ lowercase: String) -> Bool {
        var index = 0
        for letter in lowercase.utf8 {
            if ASCII.lower(bytes[index]) != letter { return false }
            index += 1
        }
        return true
    }

    private static func text(_ bytes: Span<UInt8>) -> String {
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        return String(decoding: copy, as: UTF8.self)
    }
}
