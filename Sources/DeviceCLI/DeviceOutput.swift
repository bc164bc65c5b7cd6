// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Wire

/// How results look, as JSON and to people.
enum DeviceOutput {
    // MARK: JSON

    /// The final object of `connect` (spec 09 point 31); `reason` and `message` only when something went wrong.
    static func json(_ report: ConnectReport) -> String {
        line { out in
            out.field("hostID", report.host.id)
            out.field("door", report.door.rawValue)
            out.field("tls", report.summary?.tlsVersion ?? "")
            out.field("hostInfo", (report.summary?.hostInfo ?? .none).rawValue)
            out.object("kinds") { kinds in
                for (kind, count) in sortedKinds(report.summary) { kinds.field("\(kind)", count) }
            }
            out.field("bytes", report.summary?.bytes ?? 0)
            if let median = report.summary?.roundTripMedian, let high = report.summary?.roundTrip99 {
                out.object("rttMs") { rtt in
                    rtt.field("p50", median)
                    rtt.field("p99", high)
                }
            }
            if let goodbye = report.summary?.goodbye {
                out.object("goodbye") { write(goodbye, to: &$0) }
            } else {
                out.null("goodbye")
            }
            out.field("ended", report.ended.rawValue)
            if let error = report.error {
                out.field("reason", error.goodbye?.reason ?? error.code.rawValue)
                out.field("message", error.message)
            }
        }
    }

    /// A pairing that came about.
    static func json(pairedWith host: SavedHost, device: Device, claim: CableClaim? = nil) -> String {
        line { out in
            out.field("ok", true)
            out.field("hostID", host.id)
            out.field("name", host.name)
            out.field("fingerprint", host.fingerprint)
            out.field("method", host.method)
            out.field("deviceID", device.id)
            write(claim, to: &out)
        }
    }

    /// One that did not; `reason` is the host's own word when it gave one.
    static func json(pairingFailed error: DeviceError) -> String {
        line { out in
            out.field("ok", false)
            out.field("reason", error.refusal?.reason ?? error.code.rawValue)
            out.field("triesLeft", ifPresent: error.refusal?.triesLeft)
            out.field("retryAfter", ifPresent: error.refusal?.retryAfter)
            out.field("message", error.message)
        }
    }

    /// An ask that paired nothing.
    static func json(told refusal: PairingRefusal, claim: CableClaim?) -> String {
        line { out in
            out.field("ok", false)
            out.field("reason", refusal.reason)
            out.field("retryAfter", ifPresent: refusal.retryAfter)
            out.field("message", refusal.askWords)
            write(claim, to: &out)
        }
    }

    /// Whether the cable was claimed, and why not; nothing when it was not to be.
    private static func write(_ claim: CableClaim?, to out: inout JSONWriter) {
        guard let claim else { return }
        out.field("claimed", claim.isClaimed)
        if case .fails(let reason) = claim { out.field("notClaimed", reason.rawValue) }
    }

    /// The saved hosts, without what is secret between host and device.
    static func json(_ hosts: [SavedHost]) -> String {
        line { out in
            out.array("items") { list in
                for host in hosts { list.object { write(host, to: &$0) } }
            }
        }
    }

    private static func write(_ host: SavedHost, to out: inout JSONWriter) {
        out.field("hostID", host.id)
        out.field("name", host.name)
        out.field("fingerprint", host.fingerprint)
        out.field("remotePort", host.remotePort)
        out.array("addresses") { list in host.addresses.forEach { write($0, to: &list) } }
        out.array("typedAddresses") { list in host.typedAddresses.forEach { write($0, to: &list) } }
        out.field("pairedAt", WallTime(seconds: host.pairedAt).rfc3339)
        out.field("pairedHow", host.method)
        out.field("lastConnectedAt", ifPresent: host.lastConnectedAt.map { WallTime(seconds: $0).rfc3339 })
        out.field("lastRoute", ifPresent: host.lastRoute)
        out.field("revoked", host.revoked)
    }

    private static func write(_ address: SavedAddress, to list: inout JSONWriter) {
        list.object { out in
            out.field("host", address.host)
            out.field("port", ifPresent: address.port)
            out.field("kind", address.kind)
            out.field("via", address.via)
        }
    }

    private static func write(_ goodbye: SessionGoodbye, to out: inout JSONWriter) {
        out.field("reason", goodbye.reason)
        out.field("message", ifPresent: goodbye.message)
        out.field("minimumVersion", ifPresent: goodbye.minimumVersion)
        out.field("reconnect", ifPresent: goodbye.reconnect)
    }

    static func line(_ body: (inout JSONWriter) -> Void) -> String {
        var out = JSONWriter()
        out.object(body)
        return escaped(out.text) + "\n"
    }

    /// The same JSON without what a terminal would obey or not show, some of which JSON lets stand: an ID has a stranger's
    /// name in it. Only texts can have it, so that each stands for itself escaped.
    private static func escaped(_ json: String) -> String {
        func isShown(_ scalar: Unicode.Scalar) -> Bool {
            if scalar.isASCII { return scalar.value != 0x7F }
            let category = scalar.properties.generalCategory
            return ![.control, .format, .lineSeparator, .paragraphSeparator].contains(category)
        }
        if json.unicodeScalars.allSatisfy(isShown) { return json }
        return json.unicodeScalars.map { scalar in
            if isShown(scalar) { return String(scalar) }
            return UTF16.encode(scalar).map { units in
                units.map { unit in
                    let digits = String(unit, radix: 16)
                    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }.joined()
            } ?? ""
        }.joined()
    }

    private static func sortedKinds(_ summary: SessionSummary?) -> [(UInt8, Int)] {
        (summary?.kinds ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Text

    /// The line that says a session has begun.
    static func greeting(_ session: Session) async -> String {
        let summary = await session.summary()
        return """
            Connected to \(session.host.name) (\(session.host.id)) at \(session.endpoint), \
            \(session.door.rawValue) door, \(summary.tlsVersion).

            """
    }

    /// What a session was, one fact a line.
    static func text(_ report: ConnectReport) -> String {
        guard let summary = report.summary else { return "" }
        let kinds = sortedKinds(summary).map { "\(name(ofKind: $0)) ×\($1)" }.joined(separator: ", ")
        var rows = [
            ("host info", summary.hostInfo.rawValue), ("messages", kinds.isEmpty ? "none" : kinds),
            ("received", "\(summary.bytes) bytes"),
        ]
        if let median = summary.roundTripMedian, let high = summary.roundTrip99 {
            rows.append(("round trip", "\(median) ms (median), \(high) ms (99 %)"))
        }
        if let goodbye = summary.goodbye { rows.append(("goodbye", "\(goodbye.reason): \(goodbye.words)")) }
        rows.append(("ended", words(report.ended)))
        return columns(rows.map { [$0.0, $0.1] })
    }

    private static func words(_ end: ConnectEnd) -> String {
        switch end {
        case .seconds: "after the time given"
        case .goodbye: "by the host's goodbye"
        case .closed: "closed"
        case .refused: "refused"
        }
    }

    private static func name(ofKind kind: UInt8) -> String {
        let names: [UInt8: String] = [
            0: "parameter sets", 1: "frame", 2: "window list", 3: "thumbnail", 4: "app icon", 5: "app list",
            11: "pong", 13: "tick", 14: "cursor shape", 16: "host settings", 18: "host info", 22: "goodbye",
            24: "menu", 26: "pointer", 29: "audio",
        ]
        return names[kind].map { "\($0) (\(kind))" } ?? "\(kind)"
    }

    /// The saved hosts under headings.
    static func table(_ hosts: [SavedHost]) -> String {
        guard !hosts.isEmpty else { return "No host is saved. Pair with: latchkey-device pair LINK\n" }
        var rows = [["ID", "NAME", "PAIRED", "LAST SESSION", "ADDRESSES"]]
        for host in hosts {
            let places = (host.typedAddresses + host.addresses).map { address in
                address.port.map { "\(address.host):\($0)" } ?? address.host
            }
            let last =
                host.revoked
                ? "turned away; pair again"
                : host.lastConnectedAt.map { "\(day($0)) \(host.lastRoute ?? "")" } ?? "never"
            rows.append([
                host.id, Label.clean(host.name), "\(day(host.pairedAt)) (\(host.method))", last,
                places.isEmpty ? "none" : places.joined(separator: " "),
            ])
        }
        return columns(rows)
    }

    private static func day(_ seconds: Double) -> String {
        String(WallTime(seconds: seconds).rfc3339.prefix(16)).replacing("T", with: " ")
    }

    static func columns(_ rows: [[String]]) -> String {
        var widths: [Int] = []
        for row in rows {
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], cell.count)
            }
        }
        return rows.map { row in
            row.enumerated().map { index, cell in
                index == row.count - 1
                    ? cell : cell + String(repeating: " ", count: widths[index] - cell.count + 2)
            }.joined()
        }.joined(separator: "\n") + "\n"
    }
}
