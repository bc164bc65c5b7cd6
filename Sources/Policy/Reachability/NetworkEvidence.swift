// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Everything a reachability report is composed of (05): facts only, each from its own source. The switches and the
/// doors' states come beside it.
package struct ReachabilityEvidence: Sendable, Equatable {
    /// The machine's interfaces, complete or not.
    package var table = InterfaceTable.empty
    /// The router; nil while nobody asked it.
    package var router: RouterEvidence?
    /// Every VPN that is up or set up.
    package var vpns: [VPNEvidence] = []
    /// What the address name resolves to; nil when there is none, or nobody asked.
    package var name: NameEvidence?
    /// The host's own firewall rules for the remote port.
    package var firewall = HostFirewall.unread
    /// Where each fact came from, in the order people read them.
    package var sources: [FactSource] = []

    package init() {}
}

/// Where one fact came from, how long it took and how it ended; shown as the report's evidence.
package struct FactSource: Sendable, Equatable {
    /// `interfaces`, `router.natpmp`, `router.upnp`, `router.stun`, `vpn.tailscale`, `name`, `firewall`, ….
    package var fact: String
    /// In words: "rtnetlink", "NAT-PMP at 192.168.1.1", "/run/tailscale/tailscaled.sock".
    package var source: String
    /// `answered`, `silent`, `refused`, `unreadable`, `notAsked`.
    package var state: String
    /// When it was read.
    package var at: MonotonicTime
    /// How long the reading took.
    package var took: Duration

    package init(fact: String, source: String, state: String, at: MonotonicTime, took: Duration) {
        self.fact = fact
        self.source = source
        self.state = state
        self.at = at
        self.took = took
    }
}

/// The VPN products that are known by name (05 B4).
package enum VPNProduct: String, Sendable, CaseIterable, Hashable {
    case tailscale = "Tailscale"
    case wireGuard = "WireGuard"
    case openVPN = "OpenVPN"
    case zeroTier = "ZeroTier"
    case nebula = "Nebula"
    case netBird = "NetBird"
    /// A tunnel nobody names, or a NetworkManager profile.
    case other = "VPN"
}

/// One VPN, from the link table and its daemon.
package struct VPNEvidence: Sendable, Equatable {
    /// Which product it is.
    package var product: VPNProduct
    /// A unit's or profile's own name, cleaned: `office` of `openvpn-client@office`.
    package var label: String?
    /// Its link; nil while it has none.
    package var interface: String?
    /// Tailscale's own word; nil for others and when the daemon was not asked.
    package var tailscale: TailscaleEvidence?
    /// Without the daemon's word: the MagicDNS name as it can be guessed, once it led to the link's own address (05 A6).
    package var guessedName: String?
    /// The daemon's status word (ZeroTier's network status), cleaned.
    package var daemonStatus: String?
    /// The daemon exists but may not be asked.
    package var isUnreadable = false
    /// The daemon hung, or answered what cannot be read (09.39).
    package var isSilent = false
    /// It is configured: a unit is enabled, a profile or a socket exists.
    package var isSetUp = false
    /// The daemon's socket exists.
    package var hasSocket = false

    package init(product: VPNProduct, interface: String? = nil) {
        self.product = product
        self.interface = interface
    }
}

/// What tailscaled's LocalAPI says (05 B5).
package struct TailscaleEvidence: Sendable, Equatable {
    /// NoState, NeedsLogin, NeedsMachineAuth, Stopped, Starting, Running, or a later word.
    package var backendState: String
    /// The host's own tailnet addresses.
    package var addresses: [IPAddress] = []
    /// `Self.DNSName`, lower-cased, without its last dot.
    package var dnsName: String?
    /// `Self.Online`; nil when it does not say.
    package var isOnline: Bool?
    /// `CurrentTailnet.MagicDNSEnabled`.
    package var hasMagicDNS = false
    /// False in user-space mode.
    package var hasTUN = true
    /// `ShieldsUp` of the preferences; nil when they could not be read.
    package var hasShieldsUp: Bool?
    /// An exit node is in use and the LAN is cut off by it.
    package var isExitNodeBlockingLAN = false
    /// What the name resolves to; nil while it was not asked or did not answer.
    package var resolved: [IPAddress]?

    package init(backendState: String) { self.backendState = backendState }
}

/// What the user's address name resolves to (05 B10).
package struct NameEvidence: Sendable, Equatable {
    /// As it is set.
    package var text: String
    /// Empty when it resolved to nothing; nil when the resolver did not answer in time.
    package var addresses: [IPAddress]?

    package init(text: String, addresses: [IPAddress]?) {
        self.text = text
        self.addresses = addresses
    }
}

/// What the host's own rules do with TCP to the remote port (09.39).
package enum HostFirewall: String, Sendable, Hashable {
    /// Rules were read and none surely drops it.
    case passes
    /// They surely drop it.
    case drops
    /// There are rules, but what they do depends on things that cannot be told.
    case unclear
    /// They may not be read.
    case unread
}
