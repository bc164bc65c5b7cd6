// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// Names a connection that a streaming process holds: by its door and the device's address with port.
struct DelegatedKey: Hashable, Sendable {
    let door: Door
    let remote: SocketAddress
}

/// Such a connection between the question before TLS and the next.
struct DelegatedPending: Sendable {
    let id: ConnectionID
    let placement: Placement
    /// When it is forgotten; counts nothing.
    let ends: MonotonicTime
}

/// Decisions for a streaming process that runs its own listeners (03 §6). The same records as for the service's own
/// doors, so that nobody gets twice the tries by using both.
extension Core {
    /// `POST /v1/admissions`: step A without a handshake, B and C with one. The API's hot call.
    package mutating func admission(_ query: AdmissionQuery, _ moment: Moment) -> AdmissionAnswer {
        settle(moment)
        let key = DelegatedKey(door: query.door, remote: query.remote)
        let known = delegated.isEmpty ? nil : delegated.remove(key)
        let placement = known?.placement ?? place(query)
        let limited = Source.limited(query.remote.ip, placement.origin)
        if let known { self[query.door].pending.leave(known.id) }
        guard let handshake = query.handshake else {
            return start(query, key, placement, limited, moment)
        }
        if known == nil,
            let word = refusalBeforeStart(query.door, placement.origin, limited, moment)
        {
            return answer(query.door, placement, .refuse(word), nil)
        }
        let verdict = judgeReady(
            query.door, placement.origin, limited, alpn: handshake.alpn, key: handshake.fingerprint, moment)
        let decision: AdmissionAnswer.Decision =
            switch verdict {
            case .session: .session
            case .pairing: .pairing
            case .goodbye(let goodbye): .goodbye(goodbye)
            case .refuse(let word): .refuse(word)
            }
        if case .refuse = verdict, let device = handshake.fingerprint, tombstones[device] != nil {
            noteRemovedKey(
                device,
                Connection(
                    door: query.door, peer: query.remote, local: query.local, placement: placement,
                    limited: limited), moment)
        }
        return answer(query.door, placement, decision, handshake.fingerprint)
    }

    private mutating func start(
        _ query: AdmissionQuery, _ key: DelegatedKey, _ placement: Placement, _ limited: IPAddress,
        _ moment: Moment
    ) -> AdmissionAnswer {
        if let word = refusalBeforeStart(query.door, placement.origin, limited, moment) {
            return answer(query.door, placement, .refuse(word), nil)
        }
        lastDelegated += 1
        let id = ConnectionID(owner: ConnectionID.delegated, serial: lastDelegated)
        switch self[query.door].pending.arrive(id, from: limited) {
        case .refused:
            count(.limit, at: query.door, moment)
            return answer(query.door, placement, .refuse(.limit), nil)
        case .admittedInsteadOf(let victim):
            count(.limit, at: query.door, moment)
            connections[victim] = nil
            emit(.closeConnection(victim))
        case .admitted: break
        }
        delegated[key] = DelegatedPending(
            id: id, placement: placement, ends: moment.now + limits.pendingDeadline)
        touchDeadlines()
        return answer(query.door, placement, .proceed, nil)
    }

    private func place(_ query: AdmissionQuery) -> Placement {
        OriginPolicy.classify(
            source: query.remote.ip, local: query.local?.ip, zoneName: query.zoneName, receivedOn: nil,
            receivedOnName: query.interface, table: interfaces)
    }

    private func answer(
        _ door: Door, _ placement: Placement, _ decision: AdmissionAnswer.Decision, _ key: Fingerprint?
    ) -> AdmissionAnswer {
        AdmissionAnswer(
            decision: decision, origin: placement.origin, cable: false, route: route(door, placement),
            away: Route.isAway(door: door, origin: placement.origin),
            device: key.flatMap { devices.reference(to: $0) })
    }
}
