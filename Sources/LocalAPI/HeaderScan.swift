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
    private let names = Names()

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
        // The names that matter are no longer than 14 bytes.
        guard let name = ShortName(name, ignoringCase: true) else { return }
        if name == names.host {
            hasHost = true
            if !rules.allowsHost(value) { hostsAreOurs = false }
        } else if name == names.contentLength {
            contentLength = Self.number(value)
        } else if name == names.authorization {
            isProved = !proved.isEmpty && ASCII.areSame(value, proved)
            authorization.removeAll(keepingCapacity: true)
            if !isProved { for index in value.indices { authorization.append(value[index]) } }
        } else if name == names.origin {
            if !rules.allowsOrigin(value) { originsAreOurs = false }
        } else if name == names.referer {
            if !rules.allowsReferer(value) { originsAreOurs = false }
        } else if name == names.expect {
            expectsContinue = true
        } else if name == names.lastEventID {
            lastEventID = Self.text(value)
        }
    }

    /// The headers that matter. Kept here and not as constants, which would be asked for each time whether they have
    /// been made yet.
    private struct Names {
        let host = ShortName("host")
        let contentLength = ShortName("content-length")
        let authorization = ShortName("authorization")
        let origin = ShortName("origin")
        let referer = ShortName("referer")
        let expect = ShortName("expect")
        let lastEventID = ShortName("last-event-id")
    }

    /// Decimal digits; nil for anything else, and above what an `Int` holds.
    private static func number(_ bytes: Span<UInt8>) -> Int? {
        guard !bytes.isEmpty else { return nil }
        var number = 0
        for index in bytes.indices {
            let digit = bytes[index] &- UInt8(ascii: "0")
            let (scaled, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = scaled.addingReportingOverflow(Int(digit))
            guard digit < 10, !isTooLarge, !overflows else { return nil }
            number = sum
        }
        return number
    }

    private static func text(_ bytes: Span<UInt8>) -> String {
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        return String(decoding: copy, as: UTF8.self)
    }
}
