// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// Decisions for a streaming process that runs its own listeners (03 §6): steps A to C. The same rules and records as for
/// the service's own doors, so that nobody gets twice the tries by using both.
extension Core {
    /// `POST /v1/admissions`: step A without a handshake, B and C with one. The API's hot call.
    package mutating func admission(_ query: AdmissionQuery, _ moment: Moment) -> AdmissionAnswer {
        settle(moment)
        let key = peerKey(query)
        _ = delegated.takeJudged(key, at: moment.now)
        let known = takePending(key)
        guard let handshake = query.handshake else { return start(query, key, moment) }
        var connection = known ?? describe(query, key)
        if known == nil,
            let word = refusalBeforeStart(
                key.door, connection.placement.origin, connection.limited, moment)
        {
            return answer(connection, .refuse(word), nil)
        }
        let verdict = judgeReady(&connection, alpn: handshake.alpn, key: handshake.fingerprint, moment)
        let decision: AdmissionAnswer.Decision =
            switch verdict {
            case .session: .session
            case .pairing: .pairing
            case .goodbye(let goodbye): .goodbye(goodbye)
            case .refuse(let word): .refuse(word)
            }
        if connection.stage != .handshake { delegated.remember(key, connection, at: moment.now) }
        return answer(connection, decision, handshake.fingerprint)
    }

    /// `POST /v1/admissions/failures`: a handshake that failed, its deadline, a kind 19 that was none. Counted as a
    /// connection of the service's own doors that ended so, whether or not anybody asked about it before.
    package mutating func delegatedFailed(
        _ query: AdmissionQuery, _ why: HandshakeFailure, key shown: Fingerprint?, _ moment: Moment
    ) {
        settle(moment)
        let key = peerKey(query)
        let connection = takePending(key) ?? delegated.takeJudged(key, at: moment.now) ?? describe(query, key)
        let id = delegated.nextID()
        connections[id] = connection
        connectionFailed(id, why, key: shown, moment)
    }

    /// An address as a relayed connection would have it. The kernel gives a link-local one its interface's index and no
    /// other one any; a process may give the interface's name instead.
    package func resolved(_ address: SocketAddress, zoneName: String?) -> SocketAddress {
        let ip = address.ip
        if ip.family == .v4 { return address }
        guard ip.isLinkLocal else {
            return ip.scope == 0 ? address : SocketAddress(ip: ip.unscoped, port: address.port)
        }
        guard let index = zoneName.flatMap({ interfaces.interface(named: $0)?.index }),
            let scoped = IPAddress(bytes: ip.bytes, scope: index)
        else { return address }
        return SocketAddress(ip: scoped, port: address.port)
    }

    /// What the calls after an admission go on with, under a name of its own: the connection that was judged a moment
    /// ago with this very key, or, when nobody asked, one that A and C are asked about now.
    mutating func takeJudged(
        _ query: AdmissionQuery, _ moment: Moment
    ) -> Result<ConnectionID, NotJudged> {
        let key = peerKey(query)
        var judged = delegated.takeJudged(key, at: moment.now)
        if judged?.stage.isJudged(with: query.handshake) != true {
            let decision = admission(query, moment).decision
            judged = delegated.takeJudged(key, at: moment.now)
            guard judged != nil else { return .failure(NotJudged(decision: decision)) }
        }
        let id = delegated.nextID()
        connections[id] = judged
        return .success(id)
    }

    /// What a connection got in place of a session or a pairing.
    struct NotJudged: Error {
        let decision: AdmissionAnswer.Decision
    }

    private mutating func start(
        _ query: AdmissionQuery, _ key: PeerKey, _ moment: Moment
    ) -> AdmissionAnswer {
        let connection = describe(query, key)
        let id = delegated.nextID()
        if let word = start(id, connection, moment) { return answer(connection, .refuse(word), nil) }
        delegated.pending[key] = DelegatedBook.Pending(id: id, ends: moment.now + limits.pendingDeadline)
        touchDeadlines()
        return answer(connection, .proceed, nil)
    }

    private mutating func takePending(_ key: PeerKey) -> Connection? {
        guard !delegated.pending.isEmpty, let known = delegated.pending.remove(key) else { return nil }
        return forget(known.id)
    }

    private func peerKey(_ query: AdmissionQuery) -> PeerKey {
        PeerKey(door: query.door, remote: resolved(query.remote, zoneName: query.zoneName))
    }

    private func describe(_ query: AdmissionQuery, _ key: PeerKey) -> Connection {
        let placement = OriginPolicy.classify(
            source: query.remote.ip, local: query.local?.ip, zoneName: query.zoneName, receivedOn: nil,
            receivedOnName: query.interface, table: interfaces, isVPNPeer: query.isVPNPeer)
        return Connection(
            door: query.door, peer: key.remote, local: query.local, placement: placement,
            limited: Source.limited(query.remote.ip, placement.origin))
    }

    private func answer(
        _ connection: Connection, _ decision: AdmissionAnswer.Decision, _ key: Fingerprint?
    ) -> AdmissionAnswer {
        let (door, origin) = (connection.door, connection.placement.origin)
        return AdmissionAnswer(
            decision: decision, origin: origin, cable: false, route: route(door, connection.placement),
            away: Route.isAway(door: door, origin: origin), device: key.flatMap { devices.reference(to: $0) })
    }
}

extension Connection.Stage {
    /// Whether this is what C says about such a handshake when it lets it in.
    fileprivate func isJudged(with handshake: AdmissionQuery.Handshake?) -> Bool {
        guard let handshake else { return false }
        return switch self {
        case .admitted(let key, _):
            handshake.alpn == ALPN.session.rawValue && key == handshake.fingerprint
        case .pairing(let key): handshake.alpn == ALPN.pairing.rawValue && key == handshake.fingerprint
        case .handshake, .answering: false
        }
    }
}
