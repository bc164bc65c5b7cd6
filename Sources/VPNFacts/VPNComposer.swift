// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// Puts together what the link table and everybody who was asked said: which VPNs there are (05 B4). Pure.
struct VPNComposer {
    /// What was found out beside the table.
    struct Facts: Sendable {
        var tailscale = TailscaleDaemon.Reading(state: .absent)
        var zeroTier = ZeroTierDaemon.Reading.absent
        var bus = BusFacts()
        var owners: [String: Processes.Owner] = [:]
    }

    private static let most = 64

    private let table: InterfaceTable
    private let facts: Facts
    private let links: [NetworkInterface]
    /// Links that some product has.
    private var claimed: Set<String> = []
    private var found: [VPNEvidence] = []

    private init(_ table: InterfaceTable, _ facts: Facts) {
        self.table = table
        self.facts = facts
        links = table.interfaces.filter { $0.kind == .tunnel }.sorted { $0.name < $1.name }
    }

    /// In a fixed order: Tailscale, then by product. A tunnel that nobody knows is in the table, and not here.
    static func compose(_ table: InterfaceTable, _ facts: Facts) -> [VPNEvidence] {
        var composer = VPNComposer(table, facts)
        composer.tailscale()
        composer.netBird()
        composer.nebula()
        composer.zeroTier()
        composer.wireGuard()
        composer.openVPN()
        composer.profiles()
        return Array(composer.found.prefix(most))
    }

    /// The link of Tailscale's: by name, else the one that has its addresses.
    static func tailscaleLink(_ table: InterfaceTable, _ evidence: TailscaleEvidence?) -> String? {
        let links = table.interfaces.filter { $0.kind == .tunnel }
        if let named = links.first(where: { $0.name.hasPrefix("tailscale") }) { return named.name }
        guard let evidence, evidence.hasTUN else { return nil }
        let own = Set(evidence.addresses)
        return links.first { $0.addresses.contains { own.contains($0.ip.unscoped) } }?.name
    }

    private mutating func add(_ vpn: VPNEvidence) {
        if let link = vpn.interface { claimed.insert(link) }
        found.append(vpn)
    }

    private var free: [NetworkInterface] { links.filter { !claimed.contains($0.name) } }

    private func units(_ name: String) -> [BusFacts.Unit] {
        facts.bus.units.filter { $0.name == name + ".service" && ($0.isEnabled || $0.isActive) }
    }

    /// The instances of a template, by their own name.
    private func instances(_ template: String) -> [(label: String, unit: BusFacts.Unit)] {
        facts.bus.units.filter { $0.isEnabled || $0.isActive }.compactMap { unit in
            guard unit.name.hasPrefix(template + "@"), unit.name.hasSuffix(".service") else { return nil }
            // As it is written: %i names the file.
            let instance = unit.name.dropFirst(template.utf8.count + 1).dropLast(".service".utf8.count)
            let label = Label.clean(String(instance))
            return label.isEmpty ? nil : (label, unit)
        }
        .sorted { $0.label < $1.label }
    }

    private mutating func tailscale() {
        let reading = facts.tailscale
        let link = Self.tailscaleLink(table, reading.evidence)
        guard link != nil || reading.state != .absent || !units("tailscaled").isEmpty else { return }
        var vpn = VPNEvidence(product: .tailscale, interface: link)
        vpn.tailscale = reading.evidence
        vpn.isSetUp = true
        vpn.hasSocket = reading.state != .absent && reading.state != .down
        vpn.isSilent = reading.state == .silent
        // A link without a socket is a daemon elsewhere, which nobody here may ask.
        vpn.isUnreadable = reading.state == .unreadable || (link != nil && reading.state == .absent)
        add(vpn)
    }

    private mutating func netBird() {
        byName("wt", .netBird, isSetUp: !units("netbird").isEmpty) { $0.dropFirst(2).first?.isNumber == true }
    }

    private mutating func nebula() {
        let instances = instances("nebula")
        byName("nebula", .nebula, isSetUp: !units("nebula").isEmpty || !instances.isEmpty) { _ in true }
    }

    /// A product with links of its own and no way to be asked.
    private mutating func byName(
        _ prefix: String, _ product: VPNProduct, isSetUp: Bool, _ fits: (String) -> Bool
    ) {
        let own = free.filter { link in
            link.name.hasPrefix(prefix) && fits(link.name) || facts.owners[link.name]?.name == prefix
        }
        for link in own {
            var vpn = VPNEvidence(product: product, interface: link.name)
            vpn.isSetUp = true
            add(vpn)
        }
        if own.isEmpty, isSetUp {
            var vpn = VPNEvidence(product: product)
            vpn.isSetUp = true
            add(vpn)
        }
    }

    private mutating func zeroTier() {
        let isSetUp = !units("zerotier-one").isEmpty
        if case .answered(let networks) = facts.zeroTier {
            for network in networks {
                let link = network.interface.flatMap { name in free.first { $0.name == name }?.name }
                var vpn = VPNEvidence(product: .zeroTier, interface: link)
                vpn.daemonStatus = network.status
                vpn.isSetUp = true
                vpn.hasSocket = true
                if link == nil, networks.count > 1, !network.name.isEmpty { vpn.label = network.name }
                add(vpn)
            }
        }
        let others = free.filter { $0.name.hasPrefix("zt") }
        for link in others {
            var vpn = VPNEvidence(product: .zeroTier, interface: link.name)
            vpn.isSetUp = true
            vpn.isUnreadable = facts.zeroTier == .unreadable
            vpn.isSilent = facts.zeroTier == .silent
            add(vpn)
        }
        let isKnown = found.contains { $0.product == .zeroTier }
        if case .answered = facts.zeroTier { return }
        guard !isKnown, isSetUp || facts.zeroTier == .silent else { return }
        var vpn = VPNEvidence(product: .zeroTier)
        vpn.isSetUp = true
        vpn.isUnreadable = facts.zeroTier == .unreadable
        vpn.isSilent = facts.zeroTier == .silent
        add(vpn)
    }

    private mutating func wireGuard() {
        for link in free where ["wireguard", "amneziawg"].contains(link.link.infoKind) {
            var vpn = VPNEvidence(product: .wireGuard, interface: link.name)
            vpn.isSetUp = true
            add(vpn)
        }
        var missing = instances("wg-quick").map(\.label)
        missing += facts.bus.profiles.filter { $0.type == "wireguard" }.map { $0.interface ?? $0.name }
        for name in missing where !claimed.contains(name) && table.interface(named: name) == nil {
            var vpn = VPNEvidence(product: .wireGuard, interface: name)
            // The first is "WireGuard", as it would be when up.
            if found.contains(where: { $0.product == .wireGuard }) { vpn.label = name }
            vpn.isSetUp = true
            add(vpn)
        }
    }

    private mutating func openVPN() {
        var waiting = ["openvpn-client", "openvpn-server", "openvpn"].flatMap(instances)
        let profiles = facts.bus.profiles.filter { $0.isOpenVPN }
        // Whose process it is, or whose profile.
        for link in free where isOpenVPNCandidate(link) {
            let owner = facts.owners[link.name]
            let unit = owner.flatMap { owner in
                waiting.firstIndex { $0.unit.process == owner.process }
            }
            let profile = profiles.first { self.link(of: $0) == link.name }
            guard unit != nil || profile != nil || owner?.name == "openvpn" || isKernelOpenVPN(link) else {
                continue
            }
            var vpn = VPNEvidence(product: .openVPN, interface: link.name)
            vpn.label = unit.map { waiting.remove(at: $0).label } ?? profile?.name
            vpn.isSetUp = true
            add(vpn)
        }
        // Nobody may say whose they are: one unit and one link belong together.
        let active = waiting.indices.filter { waiting[$0].unit.isActive }
        let unowned = free.filter { isOpenVPNCandidate($0) && facts.owners[$0.name] == nil }
        let isAmbiguous = active.count > 0 && unowned.count > 0
        if active.count == 1, unowned.count == 1 {
            var vpn = VPNEvidence(product: .openVPN, interface: unowned[0].name)
            vpn.label = waiting.remove(at: active[0]).label
            vpn.isSetUp = true
            add(vpn)
        }
        for unit in waiting where !(isAmbiguous && unit.unit.isActive) {
            var vpn = VPNEvidence(product: .openVPN)
            vpn.label = unit.label
            vpn.isSetUp = true
            add(vpn)
        }
    }

    private func isKernelOpenVPN(_ link: NetworkInterface) -> Bool {
        link.link.infoKind == "ovpn" || link.link.infoKind == "ovpn-dco"
    }

    private func isOpenVPNCandidate(_ link: NetworkInterface) -> Bool {
        if isKernelOpenVPN(link) { return true }
        let hasName = link.name.hasPrefix("tun") || link.name.hasPrefix("tap")
        return hasName && (link.link.infoKind == nil || link.link.infoKind == "tun")
    }

    /// NetworkManager's VPNs, as far as no product has their link already.
    private mutating func profiles() {
        for profile in facts.bus.profiles where profile.type != "wireguard" && !profile.name.isEmpty {
            let link = link(of: profile)
            if let link, claimed.contains(link) { continue }
            if profile.isOpenVPN,
                found.contains(where: { $0.product == .openVPN && $0.label == profile.name })
            {
                continue
            }
            // A tun that is not there is nothing that somebody connects.
            guard link != nil || profile.type == "vpn" else { continue }
            var vpn = VPNEvidence(product: profile.isOpenVPN ? .openVPN : .other, interface: link)
            vpn.label = profile.name
            vpn.isSetUp = true
            add(vpn)
        }
    }

    /// The tunnel of a profile that is in use.
    private func link(of profile: BusFacts.Profile) -> String? {
        guard profile.isActive else { return nil }
        if profile.type != "vpn", let name = profile.interface, links.contains(where: { $0.name == name }) {
            return name
        }
        let own = Set(profile.addresses)
        return links.first { $0.addresses.contains { own.contains($0.ip.unscoped) } }?.name
    }
}

extension BusFacts.Profile {
    fileprivate var isOpenVPN: Bool {
        type == "vpn" && service == "org.freedesktop.NetworkManager.openvpn"
    }
}
