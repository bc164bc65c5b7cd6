// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// Sessions that a streaming process holds (03 §6): registered, told to go, ended.
extension Core {
    /// What becomes of a registration.
    package enum DelegatedRegistration: Sendable, Equatable {
        /// It is a session now.
        case session(SessionView)
        /// Send this so much later, then close as an unregistered connection (03 §11.3).
        case goodbye(Goodbye, after: Duration)
        /// Close without a word; counted under this word already.
        case refuse(RefusalWord)
        /// As many sessions are registered as a process may have.
        case full
    }

    /// `POST /v1/sessions`: D's floor with what the process read, then E's rule and the table. A session of the same
    /// door and address is over: one address and port is one connection.
    package mutating func registerDelegated(
        _ query: AdmissionQuery, hello: Hello?, cable: CableVerdict = .not(.notLinkLocal),
        counters: SessionCounters, _ moment: Moment
    ) -> DelegatedRegistration {
        settle(moment)
        let remote = resolved(query.remote, zoneName: query.zoneName)
        if let older = table.id(remote: remote, door: query.door), table[older]?.view.mode == .delegated {
            sessionEnded(older, .deleted, moment)
        }
        if table.delegatedCount >= DelegatedBook.sessionLimit { return .full }
        switch takeJudged(query, moment) {
        case .failure(let not):
            switch not.decision {
            case .goodbye(let goodbye): return .goodbye(goodbye, after: .zero)
            case .refuse(let word): return .refuse(word)
            case .proceed, .session, .pairing: return .refuse(.unpaired)
            }
        case .success(let id):
            let kind: MessageKind? = hello == nil ? nil : .hello
            if !DeviceGate.admits(floor: settings.floor, kind: kind, hello: hello) {
                return .goodbye(updateGoodbye(hello), after: gateRefused(id, moment))
            }
            noteCable(cable)
            switch register(id, hello: hello, counters: counters, cable: cable, moment) {
            case .session(let view): return .session(view)
            case .goodbye(let goodbye): return .goodbye(goodbye, after: .zero)
            // Direct went off meanwhile.
            case .refuse: return .refuse(.direct)
            }
        }
    }

    /// What became of a wish to end a session or to say something about it.
    package enum DelegatedCall: Sendable, Equatable {
        /// Done.
        case done
        /// There is no such session, or it has ended.
        case notFound
        /// The service carries it itself.
        case relayed
    }

    /// `DELETE /v1/sessions/{id}`: the process has closed it.
    package mutating func deleteSession(_ id: SessionID, _ moment: Moment) -> DelegatedCall {
        withDelegated(id, moment) { core, view in
            core.sessionEnded(id, view.goodbye == nil ? .deleted : .goodbye, moment)
        }
    }

    /// `DELETE /v1/sessions`: a process that starts holds none of those its predecessor left. How many there were.
    package mutating func deleteDelegatedSessions(_ moment: Moment) -> Int {
        settle(moment)
        // And nothing that it said of its stream holds.
        links.running = .wanted
        refreshRunning()
        let left = table.all().filter { $0.view.mode == .delegated }
        for session in left { sessionEnded(session.view.id, .deleted, moment) }
        return left.count
    }

    /// `POST /v1/sessions/{id}/hello`: one that came after registering.
    package mutating func delegatedHello(_ id: SessionID, _ hello: Hello, _ moment: Moment) -> DelegatedCall {
        withDelegated(id, moment) { core, _ in core.sessionHello(id, hello, moment) }
    }

    /// `POST /v1/sessions/{id}/pairing-wanted`: its kind 21.
    package mutating func delegatedPairingWanted(_ id: SessionID, _ moment: Moment) -> DelegatedCall {
        withDelegated(id, moment) { core, _ in core.pairingWanted(id, moment) }
    }

    /// Sessions of a streaming process that are not ended yet.
    package var delegatedSessions: Int { table.delegatedCount }

    /// A session was told to go, or is to be cut: its process has this long to end it.
    mutating func awaitDeletion(of id: SessionID, _ moment: Moment) {
        delegated.closing[id] = moment.now + DelegatedBook.closingFor
        touchDeadlines()
    }

    /// Drops what a process did not end in time, so that no session stays for good.
    mutating func dropAbandoned(_ moment: Moment) {
        while let oldest = delegated.closing.first, moment.now >= oldest.value {
            delegated.closing.remove(oldest.key)
            log(.warning, "a session was not ended by its streaming process", [("session", oldest.key.text)])
            sessionEnded(oldest.key, .abandoned, moment)
        }
    }

    private mutating func withDelegated(
        _ id: SessionID, _ moment: Moment, _ body: (inout Core, SessionView) -> Void
    ) -> DelegatedCall {
        settle(moment)
        guard let view = table[id]?.view else { return .notFound }
        guard view.mode == .delegated else { return .relayed }
        body(&self, view)
        return .done
    }
}
