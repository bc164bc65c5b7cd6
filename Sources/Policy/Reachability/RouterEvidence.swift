// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What the router's witnesses said in one probe (05 B6), before anyone judged it. A witness that was not asked is nil.
package struct RouterEvidence: Sendable, Equatable {
    /// The next hop that was asked; nil when none is known.
    package var gateway: IPAddress?
    /// NAT-PMP at the gateway.
    package var natpmp: NATPMPAnswer?
    /// The IGD that counts: the one at the gateway, else the only one that answered.
    package var igd: IGDEvidence?
    /// Further devices that answered as an IGD, by address; a second router shows here.
    package var otherIGDs: [IPAddress] = []
    /// The gateway answered PCP's ANNOUNCE.
    package var speaksPCP = false
    /// The address the owner's STUN server saw; nil without an answer.
    package var stun: IPAddress?
    /// Whether every witness has answered or had its time.
    package var isFinished = false

    package init() {}
}

/// NAT-PMP's answer to the question for the outside address (RFC 6886).
package enum NATPMPAnswer: Sendable, Hashable {
    /// The outside address, whatever it is.
    case answered(IPAddress)
    /// Result code 3, or 0.0.0.0: it has none to tell.
    case withheld
    /// Result code 2: switched off on the router.
    case refused
    /// Another version, an unknown opcode, or the port is closed.
    case unsupported
    /// Nothing within the time.
    case silent
}

/// What a UPnP Internet Gateway Device said.
package struct IGDEvidence: Sendable, Equatable {
    /// `GetStatusInfo`.
    package enum Status: String, Sendable, Hashable {
        /// "Connected" or "Up".
        case connected
        /// Any other text.
        case disconnected
        /// No answer.
        case unknown
    }

    /// `GetExternalIPAddress`.
    package enum Address: Sendable, Hashable {
        /// An IPv4 address, whatever it is.
        case address(IPAddress)
        /// Empty, 0.0.0.0, no IPv4, or any SOAP error.
        case withheld
        /// No answer.
        case unknown
    }

    /// Who answered.
    package var host: IPAddress
    /// Whether it is the gateway that was asked about.
    package var isGateway: Bool
    /// Connection status; ignored of one that is not the gateway.
    package var status = Status.unknown
    /// `GetConnectionTypeInfo`, cleaned; nil without an answer.
    package var connectionType: String?
    /// Its internet address.
    package var address = Address.unknown
    /// What it does with the port that was asked about.
    package var mapping = MappingAnswer.unreadable
    /// The IPv6 firewall service (6FC); nil when it has none.
    package var firewall: IPv6Firewall?
    /// `friendlyName` of the description, cleaned; for people.
    package var name: String?

    package init(host: IPAddress, isGateway: Bool) {
        self.host = host
        self.isGateway = isGateway
    }
}

/// `GetSpecificPortMappingEntry` for TCP and the outside port.
package enum MappingAnswer: Sendable, Equatable {
    /// Error 714.
    case none
    /// An entry.
    case entry(MappingEntry)
    /// Another error, or no answer.
    case unreadable
}

/// One port mapping of a router.
package struct MappingEntry: Sendable, Equatable {
    /// The machine it leads to.
    package var client: IPAddress
    /// The port there.
    package var port: Int
    /// Whether it is switched on.
    package var isEnabled: Bool
    /// What its maker called it, cleaned.
    package var description: String
    /// Seconds left; 0 for ever.
    package var lease: Int

    package init(client: IPAddress, port: Int, isEnabled: Bool, description: String, lease: Int) {
        self.client = client
        self.port = port
        self.isEnabled = isEnabled
        self.description = description
        self.lease = lease
    }

    /// Where it leads, as everybody may read it: reports, answers, the log. A carrier's address is masked.
    package var target: String { "\(ReachabilityAdvice.shown(client)):\(port)" }
}

/// `GetFirewallStatus` of WANIPv6FirewallControl.
package struct IPv6Firewall: Sendable, Hashable {
    /// Whether inbound IPv6 is filtered.
    package var isOn: Bool
    /// Whether pinholes may be asked for.
    package var allowsPinholes: Bool
    /// Whether one of ours was seen working.
    package var hasOurPinhole: Bool

    package init(isOn: Bool, allowsPinholes: Bool, hasOurPinhole: Bool = false) {
        self.isOn = isOn
        self.allowsPinholes = allowsPinholes
        self.hasOurPinhole = hasOurPinhole
    }
}
