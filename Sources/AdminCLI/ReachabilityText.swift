// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Policy
package import Wire

/// The reachability report for people (05 A10, B11): the verdict and what to do, then what it rests on. Pure.
package enum ReachabilityText {
    private static let label = 10

    /// All of it. `columns` is where sentences are broken; nil: nowhere.
    package static func screen(_ report: Reachability, columns: Int?, style: Style) -> String {
        var text = verdict(report, columns, style) + "\n" + addresses(report, style)
        let details = details(report)
        if !details.isEmpty {
            text += "\n" + details.map { line($0.0, $0.1, columns, style) }.joined()
        }
        return text + "\n" + evidence(report, style)
    }

    // MARK: Verdict

    private static func verdict(_ report: Reachability, _ columns: Int?, _ style: Style) -> String {
        let role: Style.Role =
            switch report.severity {
            case "ok": .good
            case "maybe": .attention
            default: .bad
            }
        let head = style(report.severity.uppercased().visible, role)
        let text =
            "\(head): \(words(of: report)) (\(report.verdict.visible), \(report.basis.visible))\n"
            + wrapped(report.advice.visible, columns, indent: 0)
        // Where it is not on, the verdict has said so.
        return report.summary.hasPrefix("on")
            ? text + wrapped("Remote access \(report.summary.visible)", columns, indent: 0) : text
    }

    private static func words(of report: Reachability) -> String {
        switch OverallCode(rawValue: report.verdict) {
        case .identityMissing: "this host has no identity yet"
        case .remoteOff: "remote access is off"
        case .doorPortInUse: "port \(report.port) is in use"
        case .doorFailed: "the remote door could not start"
        case .firewallDrops: "this machine's firewall drops the port"
        case .awayVPN: "a device away from home can reach this host through a VPN"
        case .awayInternet: "a device away from home can reach this host over the internet"
        case .awayMaybe: "a device away from home may reach this host over the internet"
        case .asking: "the router is being asked"
        case .awayBlocked, .awayNone: "a device away from home cannot reach this host"
        case nil: "see below"
        }
    }

    // MARK: Addresses

    private static func addresses(_ report: Reachability, _ style: Style) -> String {
        let noVPN = report.vpns.isEmpty && !report.addresses.contains { $0.kind == "vpn" }
        guard !report.addresses.isEmpty else {
            return "Devices are given no address.\n" + (noVPN ? "No VPN on this host.\n" : "")
        }
        func dial(_ address: HostAddress) -> String {
            guard let port = address.port else { return address.host.visible }
            return (address.host.contains(":") ? "[\(address.host.visible)]" : address.host.visible)
                + ":\(port)"
        }
        // The columns of 05 A10.
        let via = max(12, (report.addresses.map { $0.via.visible.columns }.max() ?? 0) + 2)
        let host = max(16, (report.addresses.map { dial($0).columns }.max() ?? 0) + 2)
        var text = style("Addresses, in the order devices dial them", .heading) + "\n"
        for address in report.addresses {
            text += address.via.visible.padded(to: via) + dial(address).padded(to: host)
            text += address.kind.visible.padded(to: 10) + how(address, report) + "\n"
        }
        return text + (noVPN ? "No VPN on this host.\n" : "")
    }

    /// How a device gets in by this address.
    private static func how(_ address: HostAddress, _ report: Reachability) -> String {
        switch (address.kind, address.via) {
        case ("vpn", _): return "from a device in the same VPN"
        case ("lan", _): return "at home, or through a VPN into the home network"
        case (_, "Address name"):
            switch NameCode(rawValue: report.addressName?.code ?? "") {
            case .nameUnresolved: return "not now: it leads nowhere"
            case .nameStale, .namePrivate: return "not now: it leads to another address"
            case .nameMatches, nil: return byRouter(report)
            }
        case (_, "Router"): return byRouter(report)
        case (_, "IPv6"):
            switch IPv6Code(rawValue: report.ipv6.code) {
            case .v6Open, .v6PinholeActive: return "from a network that has IPv6"
            case .v6Blocked: return "not now: the router blocks it"
            case .v6PinholePossible: return "once the router is asked to let it in"
            default: return "if the router lets it in"
            }
        default: return ""
        }
    }

    private static func byRouter(_ report: Reachability) -> String {
        switch RouterCode(rawValue: report.router.code) {
        case .publicMapped: "from anywhere"
        case .publicMappedElsewhere: "not now: the router sends the port elsewhere"
        case .publicMappingDisabled: "not now: the router's rule is disabled"
        default: "if the router forwards TCP \(report.port) to this machine"
        }
    }

    // MARK: Details

    private static func details(_ report: Reachability) -> [(String, String)] {
        var lines: [(String, String)] = []
        for vpn in report.vpns {
            let code = VPNCode(rawValue: vpn.code)
            var says = code.flatMap { ReachabilityAdvice.vpn($0, name: vpn.name) }.map { [$0] } ?? []
            says += vpn.notes.map { note($0) }
            // One that is up and well shows among the addresses.
            if code == .vpnUp && says.isEmpty { continue }
            let link = vpn.interface.map { " (\($0))" } ?? ""
            if code == .vpnUp { says.insert("\(vpn.name)\(link) is connected.", at: 0) }
            if says.isEmpty { says.append("\(vpn.name)\(link).") }
            lines.append(("VPN", "\(says.joined(separator: " ")) (\(vpn.code))"))
        }
        lines.append(("Router", router(report)))
        if let advice = routerAdvice(report) { lines.append(("", advice)) }
        if let request = report.router.request { lines.append(("Mapping", words(of: request))) }
        lines.append(("IPv6", ipv6(report)))
        if let request = report.ipv6.request { lines.append(("Pinhole", words(of: request))) }
        if let name = report.addressName { lines.append(("Name", words(of: name))) }
        for code in report.notes { lines.append(("Note", "\(note(code)) (\(code))")) }
        return lines
    }

    private static func router(_ report: Reachability) -> String {
        let router = report.router
        var parts: [String] = []
        if let address = router.address ?? router.masked { parts.append("internet address \(address)") }
        if let natpmp = router.natpmp { parts.append("NAT-PMP \(witness(natpmp, tellsAddress: true))") }
        if let igd = router.igd { parts.append("UPnP \(witness(igd, tellsAddress: false))") }
        if let stun = router.stun { parts.append("STUN saw \(stun)") }
        if let mapping = mapping(report) { parts.append(mapping) }
        let who = parts.isEmpty ? "not asked" : report.gateway ?? "no gateway known"
        let codes = router.ifOn.map { "\(router.code); with internet access on: \($0)" } ?? router.code
        return "\(who)\(parts.isEmpty ? "" : ": ")\(parts.joined(separator: ", ")) (\(codes))"
    }

    private static func witness(_ witness: Reachability.Witness, tellsAddress: Bool) -> String {
        switch witness.state {
        case "withheld": "withholds the address"
        case "refused": "is switched off"
        case "none": "not found"
        case "error": "gives errors"
        case "answered" where !tellsAddress: "connected"
        default: witness.state
        }
    }

    private static func mapping(_ report: Reachability) -> String? {
        let mapping = report.router.mapping
        let until = mapping.expiresAt.map { " until \(minute($0))" } ?? ""
        switch mapping.state {
        case "none": return "no forward of TCP \(report.port) to be seen"
        case "ours": return "TCP \(report.port) forwarded here by this service\(until)"
        case "toThisHost": return "TCP \(report.port) forwarded here\(until)"
        case "elsewhere": return "the port forwarded to \(mapping.target ?? "another place")"
        case "disabled": return "the rule for TCP \(report.port) disabled"
        default: return report.router.igd?.state == "connected" ? "mappings cannot be read" : nil
        }
    }

    private static func minute(_ time: WallTime) -> String {
        "\(time.rfc3339.prefix(16).replacing("T", with: " "))Z"
    }

    /// How what the owner asked the router for stands: asked, granted or refused, seen again, and when it ends.
    private static func words(of request: Reachability.Request) -> String {
        var says: String
        switch request.code {
        case "mappingPending", "pinholePending": says = "asked for; the router has not answered yet."
        case "mappingActive", "pinholeOpen":
            says =
                request.isSeen
                ? "granted, and seen again on the router" : "granted, not seen again on the router"
            says += request.expiresAt.map { "; ends \(minute($0)) unless renewed." } ?? "; it has no end."
        case "toThisHost": says = "not asked for: a rule of your own forwards the port already."
        case "mappingNotPossible", "pinholeNotPossible": says = "not asked for."
        default: says = "refused."
        }
        if let detail = request.detail { says += " \(detail)" }
        return "\(says) (\(request.code))"
    }

    /// The router's advice where the verdict is about something else.
    private static func routerAdvice(_ report: Reachability) -> String? {
        let router = report.router
        guard let code = RouterCode(rawValue: router.ifOn ?? router.code), code != .off, code != .asking
        else {
            return nil
        }
        let advice = ReachabilityAdvice.router(
            code, port: report.port, lan: report.lanAddress, wan: router.address ?? router.masked,
            gateway: report.gateway, target: router.mapping.target)
        return advice == report.advice ? nil : advice
    }

    private static func ipv6(_ report: Reachability) -> String {
        let code = IPv6Code(rawValue: report.ipv6.code)
        guard let advice = code.flatMap({ ReachabilityAdvice.ipv6($0) }) else {
            return "no address that the internet can dial (\(report.ipv6.code))"
        }
        return "\(report.ipv6.address.map { "\($0): " } ?? "")\(advice) (\(report.ipv6.code))"
    }

    private static func words(of name: Reachability.Name) -> String {
        guard let text = name.code else { return "\(name.text): whether it leads here cannot be told" }
        let code = NameCode(rawValue: text)
        let advice =
            code.flatMap { ReachabilityAdvice.name($0) } ?? (code == .nameMatches ? "It leads here." : "")
        return "\(name.text): \(advice) (\(text))"
    }

    private static func note(_ code: String) -> String {
        ReachabilityNote(rawValue: code).map { ReachabilityAdvice.note($0) } ?? code
    }

    // MARK: Evidence

    private static func evidence(_ report: Reachability, _ style: Style) -> String {
        var table = Columns(headings: ["EVIDENCE", "FROM", "STATE", "TOOK", "AGE"])
        for fact in report.facts {
            table.add([
                .init(fact.fact), .init(fact.source),
                .init(fact.state, fact.state == "answered" ? nil : .attention),
                .init("\(fact.tookMs) ms", .faint), .init(TimeText.span(Int64(fact.ageMs / 1000)), .faint),
            ])
        }
        return table.text(style)
    }

    // MARK: Lines

    private static func line(_ name: String, _ text: String, _ columns: Int?, _ style: Style) -> String {
        style(name, .faint) + String(repeating: " ", count: label - name.columns)
            + wrapped(text.visible, columns, indent: label)
    }

    /// Broken between words; every line but the first stands `indent` columns in.
    private static func wrapped(_ text: String, _ columns: Int?, indent: Int) -> String {
        guard let columns, columns > indent + 20 else { return text + "\n" }
        var lines: [String] = []
        var current = ""
        for word in text.split(separator: " ") {
            if !current.isEmpty, indent + current.columns + 1 + String(word).columns > columns {
                lines.append(current)
                current = ""
            }
            current += (current.isEmpty ? "" : " ") + word
        }
        lines.append(current)
        return lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
    }
}

/// `map-port` and `unmap-port` for people. Pure.
package enum MappingText {
    package static func mapped(_ mapping: PortMapping, now: WallTime) -> String {
        let target = mapping.target.map { " to \($0.visible)" } ?? ""
        let until =
            mapping.expiresAt.map { ", renewed before it ends (\(TimeText.relative($0, to: now)))" } ?? ""
        let text =
            switch mapping.code {
            case "mappingPending":
                "The router has not answered yet; see in a moment: latchkey reachability --refresh"
            case "toThisHost":
                "A rule of your own forwards the port\(target) already; nothing was changed, and port-mapping stays off."
            default: "The router forwards the port\(target)\(until)."
            }
        return text + "\n" + (mapping.detail.map { "\($0.visible)\n" } ?? "")
    }

    package static func unmapped(_ mapping: PortMapping) -> String {
        "The router is no longer asked to forward the port. A rule made by hand in it stays.\n"
            + (mapping.detail.map { "\($0.visible)\n" } ?? "")
    }
}
