// The reachability report as the API and the command line show it. SPDX-License-Identifier: Apache-2.0

package import Wire

/// `GET /v1/reachability` (spec 05 B11, 09.40). Unknown facts are left out, never null.
package struct Reachability: APIObject {
    /// 1.
    package var version = 1
    /// When it was made.
    package var at: WallTime
    /// How long the making took, in milliseconds.
    package var tookMs: Int
    /// The overall code, such as `awayVPN`.
    package var verdict: String
    /// `ok`, `maybe` or `blocked`.
    package var severity: String
    /// What the verdict rests on: `verified` when whoever knows said so, `inferred` when it only follows from what was seen.
    package var basis: String
    /// What to do, in one or two sentences.
    package var advice: String
    /// One line for a status screen.
    package var summary: String
    /// The switch.
    package var remoteAccess: Bool
    /// The effective internet switch.
    package var internet: Bool
    /// The remote port.
    package var port: Int
    /// What the remote door does: `open`, `closed` or `failed`.
    package var listener: Listener
    /// As devices get them, in dial order.
    package var addresses: [HostAddress]
    /// Every VPN, those that are down included.
    package var vpns: [VPN]
    /// The primary LAN address.
    package var lanAddress: String?
    /// The router that was asked; a carrier's address masked.
    package var gateway: String?
    /// What the router said.
    package var router: Router
    /// What IPv6 from the internet finds.
    package var ipv6: IPv6
    /// The address name; nil when none is set.
    package var addressName: Name?
    /// Codes of things worth a line.
    package var notes: [String]
    /// Where each fact came from.
    package var facts: [Fact]

    /// The remote door.
    package struct Listener: Sendable, Equatable {
        /// `open`, `closed` or `failed`.
        package var state: String
        /// The port, open or asked for.
        package var port: Int?

        package init(state: String, port: Int?) {
            self.state = state
            self.port = port
        }
    }

    /// One VPN.
    package struct VPN: Sendable, Equatable {
        /// What people call it.
        package var name: String
        /// `Tailscale`, `WireGuard`, ….
        package var product: String
        /// Its link, if it has one.
        package var interface: String?
        /// `vpnUp`, `vpnDown`, ….
        package var code: String
        /// Codes of things worth a line.
        package var notes: [String]

        package init(name: String, product: String, interface: String?, code: String, notes: [String]) {
            self.name = name
            self.product = product
            self.interface = interface
            self.code = code
            self.notes = notes
        }
    }

    /// One witness or part of the router: a state, and what belongs to it.
    package struct Witness: Sendable, Equatable {
        /// NAT-PMP: `answered`, `withheld`, `refused`, `unsupported`, `silent`; IGD: `connected`, `disconnected`,
        /// `withheld`, `error`, `none`.
        package var state: String
        /// The connection type an IGD tells.
        package var type: String?
        /// The internet address it tells; a carrier's masked.
        package var address: String?

        package init(state: String, type: String? = nil, address: String? = nil) {
            self.state = state
            self.type = type
            self.address = address
        }
    }

    /// The mapping of the port.
    package struct Mapping: Sendable, Equatable {
        /// `none`, `ours`, `toThisHost`, `elsewhere`, `disabled` or `unreadable`.
        package var state: String
        /// Where it leads: `192.168.1.20:7455`.
        package var target: String?
        /// When it ends by itself.
        package var expiresAt: WallTime?

        package init(state: String, target: String? = nil, expiresAt: WallTime? = nil) {
            self.state = state
            self.target = target
            self.expiresAt = expiresAt
        }
    }

    /// What the owner has asked the router for, and how that stands.
    package struct Request: Sendable, Equatable {
        /// `mappingActive`, `mappingPending`, `mappingRefused`, …; `pinholeOpen`, `pinholePending`, ….
        package var code: String
        /// The router's error in words, or why it was not asked; nil when the code says it all.
        package var detail: String?
        /// Whether the router was asked again, and shows it.
        package var isSeen: Bool
        /// When it ends unless it is renewed.
        package var expiresAt: WallTime?

        package init(code: String, detail: String? = nil, isSeen: Bool = false, expiresAt: WallTime? = nil) {
            self.code = code
            self.detail = detail
            self.isSeen = isSeen
            self.expiresAt = expiresAt
        }
    }

    /// The router's part.
    package struct Router: Sendable, Equatable {
        /// The code of spec 05 B7.
        package var code: String
        /// What it would be with internet access on; nil while it is on.
        package var ifOn: String?
        /// Its internet address; never a carrier's.
        package var address: String?
        /// A carrier's address, its last two octets hidden.
        package var masked: String?
        /// Nil: not asked.
        package var natpmp: Witness?
        /// Nil: not asked.
        package var igd: Witness?
        /// The address the owner's STUN server saw.
        package var stun: String?
        /// What the router does with the port.
        package var mapping: Mapping
        /// The mapping that the owner wants kept; nil while none is wanted and none is left.
        package var request: Request?

        package init(code: String, mapping: Mapping) {
            self.code = code
            self.mapping = mapping
        }
    }

    /// IPv6's part.
    package struct IPv6: Sendable, Equatable {
        /// The code of spec 05 B9.
        package var code: String
        /// The address that is listed.
        package var address: String?
        /// The pinhole that the owner wants kept; nil while none is wanted and none is left.
        package var request: Request?

        package init(code: String, address: String?, request: Request? = nil) {
            self.code = code
            self.address = address
            self.request = request
        }
    }

    /// The address name's part.
    package struct Name: Sendable, Equatable {
        /// As it is set.
        package var text: String
        /// The code of spec 05 B10; nil while nothing can be said.
        package var code: String?

        package init(text: String, code: String?) {
            self.text = text
            self.code = code
        }
    }

    /// Where one fact came from.
    package struct Fact: Sendable, Equatable {
        /// Such as `router.natpmp`.
        package var fact: String
        /// In words.
        package var source: String
        /// `answered`, `silent`, `refused`, `unreadable` or `notAsked`.
        package var state: String
        /// How old it was when the report was made, in milliseconds.
        package var ageMs: Int
        /// How long its reading took, in milliseconds.
        package var tookMs: Int

        package init(fact: String, source: String, state: String, ageMs: Int, tookMs: Int) {
            self.fact = fact
            self.source = source
            self.state = state
            self.ageMs = ageMs
            self.tookMs = tookMs
        }
    }

    /// All of it.
    package init(
        at: WallTime, tookMs: Int, verdict: String, severity: String, basis: String, advice: String,
        summary: String,
        remoteAccess: Bool, internet: Bool, port: Int, listener: Listener, addresses: [HostAddress],
        vpns: [VPN], lanAddress: String?, gateway: String?, router: Router, ipv6: IPv6, addressName: Name?,
        notes: [String], facts: [Fact]
    ) {
        self.at = at
        self.tookMs = tookMs
        self.verdict = verdict
        self.severity = severity
        self.basis = basis
        self.advice = advice
        self.summary = summary
        self.remoteAccess = remoteAccess
        self.internet = internet
        self.port = port
        self.listener = listener
        self.addresses = addresses
        self.vpns = vpns
        self.lanAddress = lanAddress
        self.gateway = gateway
        self.router = router
        self.ipv6 = ipv6
        self.addressName = addressName
        self.notes = notes
        self.facts = facts
    }
}
