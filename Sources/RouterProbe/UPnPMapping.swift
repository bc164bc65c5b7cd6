// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Wire

/// One mapping at the gateway's IGD (05 B8).
struct UPnPMapping: Sendable {
    let igd: FoundIGD
    let wish: MappingWish
    let asker: SOAPAsker

    func map() -> MappingOutcome {
        let asked = IGDQuestions(igd: igd, isGateway: true, outsidePort: wish.outsidePort).ask(asker)
        switch asked.mappingReply {
        case .silent: return .pending
        // There is an entry, but nobody can say whose: it stays.
        case .values where asked.evidence.mapping == .unreadable: return .conflict("another machine")
        case .values, .error: break
        }
        switch MappingPolicy.before(wish, existing: asked.evidence.mapping) {
        case .stop(let outcome): return outcome
        case .replace:
            switch delete(at: asked.connection) {
            case .removed, .wasGone: break
            case .pending: return .pending
            case .leftAlone, .refused:
                guard case .entry(let entry) = asked.evidence.mapping else { return .pending }
                return .conflict(entry.target)
            }
        case .add: break
        }
        return add(at: asked.connection)
    }

    func unmap() -> UnmappingOutcome {
        let asked = IGDQuestions(igd: igd, isGateway: true, outsidePort: wish.outsidePort).ask(asker)
        if asked.mappingReply == .silent { return .pending }
        if asked.evidence.mapping == .none { return .wasGone }
        guard MappingPolicy.mayRemove(wish, existing: asked.evidence.mapping) else { return .leftAlone }
        return delete(at: asked.connection)
    }

    private func add(at point: ControlPoint) -> MappingOutcome {
        var lease = MappingPolicy.lease
        var hasTriedAgain = false
        while true {
            switch asker.ask(addCall(lease), of: point) {
            case .silent: return .pending
            case .values: return MappingPolicy.after(wish, lease: lease, shown: shown(at: point))
            case .error(let code):
                switch MappingPolicy.afterError(code, wish, lease: lease, hasTriedAgain: hasTriedAgain) {
                case .again(let next):
                    lease = next
                    hasTriedAgain = true
                case .stop(.conflict(let words)):
                    guard case .entry(let entry) = shown(at: point) else { return .conflict(words) }
                    return .conflict(entry.target)
                case .stop(let outcome): return outcome
                }
            }
        }
    }

    private func shown(at point: ControlPoint) -> MappingAnswer {
        IGDReading.mapping(asker.ask(IGDReading.mappingCall(outsidePort: wish.outsidePort), of: point))
    }

    private func delete(at point: ControlPoint) -> UnmappingOutcome {
        let call = SOAPCall(
            action: "DeletePortMapping", arguments: IGDReading.mappingKey(wish.outsidePort))
        return switch asker.ask(call, of: point) {
        case .silent: .pending
        case .values: .removed
        case .error(714): .wasGone
        case .error(let code): .refused(MappingPolicy.words(code))
        }
    }

    /// In the order of the standard, which some routers insist on.
    private func addCall(_ lease: Int) -> SOAPCall {
        SOAPCall(
            action: "AddPortMapping",
            arguments: IGDReading.mappingKey(wish.outsidePort) + [
                ("NewInternalPort", "\(wish.insidePort)"), ("NewInternalClient", "\(wish.lan)"),
                ("NewEnabled", "1"), ("NewPortMappingDescription", MappingPolicy.description),
                ("NewLeaseDuration", "\(lease)"),
            ])
    }
}

/// Pinholes at the gateway's IPv6 firewall (05 B9).
///
/// The standard lets a machine open pinholes only for the address it asks from, so many routers answer 606 to what comes
/// over IPv4; others speak UPnP over IPv4 alone. The refusal comes at once, while an address that nobody listens at can take
/// the whole time of a question: so IPv4 is asked first, and IPv6 after a 606.
struct UPnPPinholes: Sendable {
    let point: ControlPoint
    let asker: SOAPAsker
    /// The gateway's IPv6, which is asked the very same from the address that the pinhole is for; nil when none is known.
    let gateway6: IPAddress?
    let local6: LocalEnd

    private func ask(_ call: SOAPCall) -> SOAPReply {
        let reply = asker.ask(call, of: point)
        guard reply == .error(606), let gateway6 else { return reply }
        let again = SOAPAsker(local: local6, limits: asker.limits)
            .ask(call, of: ControlPoint(service: point.service, place: point.place.at(gateway6)))
        // Nobody there: what the router said stands.
        return again == .silent ? reply : again
    }

    func open(_ wish: PinholeWish) -> PinholeOutcome {
        let call = SOAPCall(
            action: "AddPinhole",
            arguments: [
                ("RemoteHost", ""), ("RemotePort", "0"), ("InternalClient", "\(wish.address)"),
                ("InternalPort", "\(wish.port)"), ("Protocol", "6"), ("LeaseTime", "\(PinholePolicy.lease)"),
            ])
        switch ask(call) {
        case .silent: return .pending
        case .error(let code): return .refused(MappingPolicy.words(code))
        case .values(let values):
            guard let id = values["UniqueID"].flatMap(PinholePolicy.id) else {
                return .refused("the router gives the pinhole no usable number")
            }
            return granted(wish, id)
        }
    }

    func renew(_ grant: PinholeGrant) -> PinholeOutcome {
        let call = SOAPCall(
            action: "UpdatePinhole",
            arguments: [("UniqueID", grant.id), ("NewLeaseTime", "\(PinholePolicy.lease)")])
        return switch ask(call) {
        case .silent: .pending
        case .error(704): open(grant.wish)
        case .error(let code): .refused(MappingPolicy.words(code))
        case .values: granted(grant.wish, grant.id)
        }
    }

    func close(_ grant: PinholeGrant) -> UnmappingOutcome {
        let call = SOAPCall(action: "DeletePinhole", arguments: [("UniqueID", grant.id)])
        return switch ask(call) {
        case .silent: .pending
        case .error(704): .wasGone
        case .error(let code): .refused(MappingPolicy.words(code))
        case .values: .removed
        }
    }

    private func granted(_ wish: PinholeWish, _ id: String) -> PinholeOutcome {
        let call = SOAPCall(action: "CheckPinholeWorking", arguments: [("UniqueID", id)])
        var isWorking: Bool?
        if case .values(let values) = ask(call) {
            isWorking = values["IsWorking"].map(IGDReading.isTrue)
        }
        return .open(PinholeGrant(wish: wish, id: id, lease: PinholePolicy.lease, isWorking: isWorking))
    }
}
