// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What tailscaled's LocalAPI answers, read strictly: another type than is documented is no answer (09.39).
enum TailscaleAnswers {
    /// Its own addresses that are kept; it has two.
    private static let most = 16

    /// Of `status`, the preferences not known yet.
    static func status(_ body: [UInt8]) throws(JSONError) -> (found: TailscaleEvidence, usesExitNode: Bool) {
        let json = try JSON.parse(body)
        var found = TailscaleEvidence(
            backendState: Label.clean(try json.requiredString("BackendState")))
        let own = try json.optionalObject("Self")
        var texts = try addresses(json)
        if texts.isEmpty { texts = try own.map { own throws(JSONError) in try addresses(own) } ?? [] }
        for text in texts.prefix(most) {
            guard let ip = IPAddress(text) else {
                throw JSONError(field: "TailscaleIPs", message: "is not a list of addresses")
            }
            found.addresses.append(ip)
        }
        if let own {
            found.dnsName = try own.optionalString("DNSName").flatMap(hostName)
            found.isOnline = try own.optionalBool("Online")
        }
        // Absent while it is not connected. Before there was one, a suffix alone said that names are served.
        if let tailnet = try json.optionalObject("CurrentTailnet") {
            found.hasMagicDNS = try tailnet.optionalBool("MagicDNSEnabled") ?? false
        } else {
            found.hasMagicDNS = try json.optionalString("MagicDNSSuffix").map { !$0.isEmpty } ?? false
        }
        found.hasTUN = try json.optionalBool("TUN") ?? true
        return (found, try json.optionalObject("ExitNodeStatus") != nil)
    }

    /// Of `prefs`, added to what `status` said.
    static func preferences(
        _ body: [UInt8], _ status: TailscaleEvidence, usesExitNode: Bool
    ) throws(JSONError) -> TailscaleEvidence {
        let json = try JSON.parse(body)
        var found = status
        found.hasShieldsUp = try json.optionalBool("ShieldsUp") ?? false
        var usesExitNode = usesExitNode
        for key in ["ExitNodeID", "ExitNodeIP"] {
            if let node = try json.optionalString(key), !node.isEmpty { usesExitNode = true }
        }
        let keepsLAN = try json.optionalBool("ExitNodeAllowLANAccess") ?? false
        found.isExitNodeBlockingLAN = usesExitNode && !keepsLAN && found.backendState == "Running"
        return found
    }

    private static func addresses(_ json: JSON) throws(JSONError) -> [String] {
        var texts: [String] = []
        for element in try json.optionalArray("TailscaleIPs") ?? [] {
            guard let text = element.string else {
                throw JSONError(field: "TailscaleIPs", message: "is not a list of texts")
            }
            texts.append(text)
        }
        return texts
    }

    /// Lower-cased, without the last dot; nil for what is no name to dial.
    static func hostName(_ text: String) -> String? {
        let name = text.hasSuffix(".") ? String(text.dropLast()) : text
        guard name.utf8.count <= 253, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        do throws(AddressProblem) {
            let parsed = try DialAddress.parse(name.lowercased())
            guard case .name(let host) = parsed.host, parsed.port == nil else { return nil }
            return host
        } catch {
            return nil
        }
    }
}
