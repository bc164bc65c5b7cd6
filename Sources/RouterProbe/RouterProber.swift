// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Sockets
internal import Synchronization
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
    /// False for the quarter-hourly probe, which asks NAT-PMP alone.
    package var asksUPnP = true

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
    let ports: RouterPorts
    let times: RouterTimes
    let memory = DescriptionMemory()
    private let lookups: NameLookups
    private let running = Mutex<Flight?>(nil)

    package convenience init() { self.init(ports: RouterPorts(), lookups: NameLookups()) }

    init(ports: RouterPorts, lookups: NameLookups, times: RouterTimes = RouterTimes()) {
        self.ports = ports
        self.lookups = lookups
        self.times = times
    }

    /// Asks, on the calling thread and threads of its own; at most 6 s. One probe at a time: whoever calls meanwhile waits
    /// for the same one and gets its result.
    package func ask(_ question: RouterQuestion) -> RouterFacts {
        let (flight, isMine) = running.withLock { running -> (Flight?, Bool) in
            if let running { return (running, false) }
            do throws(SocketError) { running = Flight(landed: try WakeUp()) } catch { return (nil, true) }
            return (running, true)
        }
        guard isMine else { return flight?.wait() ?? Self.nothing(question) }
        let facts = probe(question)
        running.withLock { $0 = nil }
        flight?.land(facts)
        return facts
    }

    private func probe(_ question: RouterQuestion) -> RouterFacts {
        guard question.lan.family == .v4, question.gateway.map({ $0.family == .v4 }) ?? true else {
            return Self.nothing(question)
        }
        do throws(SocketError) {
            let probe = try Probe(
                question, ports: ports, lookups: lookups, times: times,
                remembered: memory.place(of: question.gateway))
            let (facts, place) = probe.run()
            if let place {
                memory.remember(place)
            } else if question.asksUPnP, let gateway = question.gateway {
                memory.rememberNone(at: gateway, from: question.lan, monotonicNow())
            }
            return facts
        } catch {
            return Self.nothing(question)
        }
    }

    /// As if nobody had answered: descriptors have run out, or there is no IPv4.
    private static func nothing(_ question: RouterQuestion) -> RouterFacts {
        ProbeRecord(question, at: monotonicNow()).facts
    }

    /// A probe that is under way.
    private final class Flight: Sendable {
        private let landed: WakeUp
        private let facts = Mutex<RouterFacts?>(nil)

        init(landed: WakeUp) { self.landed = landed }

        func land(_ found: RouterFacts) {
            facts.withLock { $0 = found }
            landed.signal()
        }

        func wait() -> RouterFacts? {
            _ = landed.wait(until: nil)
            return facts.withLock { $0 }
        }
    }
}
