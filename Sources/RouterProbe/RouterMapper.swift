// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Sockets
internal import Synchronization
package import Wire

/// This machine's end on the LAN, from which the router is asked.
package struct LANLink: Sendable, Hashable {
    package var lan: IPAddress
    package var prefixBits: Int
    package var interface: String
    package var interfaceIndex: UInt32
    /// The router's IPv6, as the interface's default route names it: asked for pinholes that it does not give to IPv4.
    package var gateway6: IPAddress?

    package init(
        lan: IPAddress, prefixBits: Int, interface: String, interfaceIndex: UInt32, gateway6: IPAddress? = nil
    ) {
        self.lan = lan
        self.prefixBits = prefixBits
        self.interface = interface
        self.interfaceIndex = interfaceIndex
        self.gateway6 = gateway6
    }
}

/// Asks the router for the mapping and the pinhole that the owner wants, and for the end of them (05 B8, B9). Decides
/// nothing: `MappingPolicy` does. Every call blocks, 6 s at most; one at a time.
package final class RouterMapper: Sendable {
    private let ports: RouterPorts
    private let times: RouterTimes
    private let memory: DescriptionMemory
    private let turn: Turn

    /// Shares what the prober knows about where routers keep their descriptions.
    package init(_ prober: RouterProber) {
        ports = prober.ports
        times = prober.times
        memory = prober.memory
        turn = Turn()
    }

    /// Asks for the mapping, or for more time for it: UPnP, and NAT-PMP where there is no IGD. A probe that has just found
    /// none is believed, so that whoever waits for both does not wait for the same search twice.
    package func map(_ wish: MappingWish, on link: LANLink) -> MappingOutcome {
        limited(orElse: .pending) { limits in
            let hasNone = memory.hasNone(at: wish.gateway, from: link.lan, limits.start)
            guard !hasNone, let igd = find(wish.gateway, link, limits) else {
                return NATPMPMapping(wish: wish, link: link, port: ports.mapping).map(limits)
            }
            return UPnPMapping(igd: igd, wish: wish, asker: SOAPAsker(local: link.local, limits: limits))
                .map()
        }
    }

    /// Takes the mapping away if it is still ours.
    package func unmap(_ grant: MappingGrant, on link: LANLink) -> UnmappingOutcome {
        limited(orElse: .pending) { limits in
            if grant.way == .natpmp {
                return NATPMPMapping(wish: grant.wish, link: link, port: ports.mapping).unmap(limits)
            }
            guard let igd = find(grant.wish.gateway, link, limits) else { return .pending }
            return UPnPMapping(
                igd: igd, wish: grant.wish, asker: SOAPAsker(local: link.local, limits: limits)
            )
            .unmap()
        }
    }

    /// Asks for a pinhole.
    package func pinhole(_ wish: PinholeWish, on link: LANLink) -> PinholeOutcome {
        limited(orElse: .pending) { limits in
            pinholes(wish, link, limits, none: .notPossible) { $0.open(wish) }
        }
    }

    /// Asks for more time for a pinhole; for a new one when the router has lost it.
    package func renewPinhole(_ grant: PinholeGrant, on link: LANLink) -> PinholeOutcome {
        limited(orElse: .pending) { limits in
            pinholes(grant.wish, link, limits, none: .pending) { $0.renew(grant) }
        }
    }

    /// Closes a pinhole.
    package func closePinhole(_ grant: PinholeGrant, on link: LANLink) -> UnmappingOutcome {
        limited(orElse: .pending) { limits in
            pinholes(grant.wish, link, limits, none: .pending) { $0.close(grant) }
        }
    }

    private func pinholes<Outcome>(
        _ wish: PinholeWish, _ link: LANLink, _ limits: Limits, none: Outcome,
        _ body: (UPnPPinholes) -> Outcome
    ) -> Outcome {
        guard let igd = find(wish.gateway, link, limits), let point = igd.description.firewall else {
            return none
        }
        return body(
            UPnPPinholes(
                point: point, asker: SOAPAsker(local: link.local, limits: limits),
                gateway6: link.gateway6.flatMap { $0.family == .v6 ? $0 : nil },
                local6: LocalEnd(ip: wish.address, interface: link.local.interface)))
    }

    /// The gateway's own IGD; no other device is asked to change anything.
    private func find(_ gateway: IPAddress, _ link: LANLink, _ limits: Limits) -> FoundIGD? {
        let discovery = Discovery(
            gateway: gateway, network: Network(address: link.lan, bits: link.prefixBits), local: link.local,
            interfaceIndex: link.interfaceIndex, ports: ports, schedule: times.search,
            remembered: memory.place(of: gateway))
        let found = discovery.find(limits).gateway
        if let found { memory.remember(found.origin) }
        return found
    }

    private func limited<Outcome>(orElse late: Outcome, _ body: (Limits) -> Outcome) -> Outcome {
        do throws(SocketError) {
            let limits = try Limits(times, from: monotonicNow())
            guard turn.take(until: limits.deadline) else { return late }
            defer { turn.give() }
            return body(limits)
        } catch {
            return late
        }
    }
}

extension LANLink {
    /// The end that every request leaves from.
    var local: LocalEnd { LocalEnd(ip: lan, interface: interface.isEmpty ? nil : interface) }

    /// The same end as a probe's.
    package init(_ question: RouterQuestion) {
        self.init(
            lan: question.lan, prefixBits: question.prefixBits, interface: question.interface,
            interfaceIndex: question.interfaceIndex)
    }
}

/// One at a time; whoever comes meanwhile waits, but not for ever.
private final class Turn: Sendable {
    /// Raised when the one who has it gives it back; nil while nobody has it.
    private let holder = Mutex<WakeUp?>(nil)

    func take(until deadline: MonotonicTime) -> Bool {
        while true {
            let busy: WakeUp?
            do throws(SocketError) {
                let mine = try WakeUp()
                busy = holder.withLock { holder in
                    let busy = holder
                    if busy == nil { holder = mine }
                    return busy
                }
            } catch {
                return false
            }
            guard let busy else { return true }
            guard busy.wait(until: deadline) else { return false }
        }
    }

    func give() {
        holder.withLock { holder in
            holder?.signal()
            holder = nil
        }
    }
}
