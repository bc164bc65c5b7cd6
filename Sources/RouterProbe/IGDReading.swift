// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// The questions to an IGD and what its answers mean (05 B6 step 4). Pure.
enum IGDReading {
    static let statusCall = SOAPCall(action: "GetStatusInfo")
    static let typeCall = SOAPCall(action: "GetConnectionTypeInfo")
    static let addressCall = SOAPCall(action: "GetExternalIPAddress")
    static let firewallCall = SOAPCall(action: "GetFirewallStatus")

    /// What a TCP port of the outside leads to.
    static func mappingCall(outsidePort: Int) -> SOAPCall {
        SOAPCall(action: "GetSpecificPortMappingEntry", arguments: mappingKey(outsidePort))
    }

    /// How UPnP names a mapping: from anywhere, the outside port, TCP.
    static func mappingKey(_ outsidePort: Int) -> [(name: String, value: String)] {
        [("NewRemoteHost", ""), ("NewExternalPort", "\(outsidePort)"), ("NewProtocol", "TCP")]
    }

    static func status(_ reply: SOAPReply) -> IGDEvidence.Status {
        guard case .values(let values) = reply, let word = values["NewConnectionStatus"] else {
            return .unknown
        }
        return word == "Connected" || word == "Up" ? .connected : .disconnected
    }

    static func type(_ reply: SOAPReply) -> String? {
        guard case .values(let values) = reply, let word = values["NewConnectionType"] else { return nil }
        return Label.clean(word)
    }

    static func address(_ reply: SOAPReply) -> IGDEvidence.Address {
        switch reply {
        case .silent: return .unknown
        case .error: return .withheld
        case .values(let values):
            guard let text = values["NewExternalIPAddress"], let ip = IPAddress(trimmed(text)),
                ip.family == .v4, !ip.isUnspecified
            else { return .withheld }
            return .address(ip)
        }
    }

    static func mapping(_ reply: SOAPReply) -> MappingAnswer {
        switch reply {
        case .silent: return .unreadable
        case .error(let code): return code == 714 ? .none : .unreadable
        case .values(let values):
            guard let client = values["NewInternalClient"].flatMap({ IPAddress(trimmed($0)) }),
                client.family == .v4,
                let port = values["NewInternalPort"].flatMap({ Int(trimmed($0)) }),
                (1...65535).contains(port)
            else { return .unreadable }
            return .entry(
                MappingEntry(
                    client: client, port: port,
                    // Left out by some; a mapping that is told of is on unless it says otherwise.
                    isEnabled: values["NewEnabled"].map(isTrue) ?? true,
                    description: Label.clean(values["NewPortMappingDescription"] ?? ""),
                    lease: max(0, values["NewLeaseDuration"].flatMap { Int(trimmed($0)) } ?? 0)))
        }
    }

    static func firewall(_ reply: SOAPReply) -> IPv6Firewall? {
        guard case .values(let values) = reply, let isOn = values["FirewallEnabled"],
            let allows = values["InboundPinholeAllowed"]
        else { return nil }
        return IPv6Firewall(isOn: isTrue(isOn), allowsPinholes: isTrue(allows))
    }

    /// A UPnP boolean has three spellings.
    static func isTrue(_ text: String) -> Bool { ["1", "true", "yes"].contains(trimmed(text).lowercased()) }

    private static func trimmed(_ text: String) -> String {
        var text = text[...].drop { $0.isWhitespace }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
