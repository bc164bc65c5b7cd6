// SPDX-License-Identifier: Apache-2.0

import Policy
import Wire

@testable import Core

/// A streaming process that holds its own connections and asks as 03 §6 has it.
extension Driver {
    /// Which of the calls it makes. Leaving some out must gain nothing.
    enum Calls: CaseIterable {
        /// Before TLS, in the handshake, then the last one.
        case all
        /// In the handshake, then the last one.
        case combined
        /// The last one alone.
        case last
    }

    static let interfaces: [UInt32: String] = [1: "lo", 2: "eth0", 3: "wg0", 4: "tailscale0", 5: "awdl0"]

    func query(_ door: Door, _ from: From, port: UInt16) -> AdmissionQuery {
        AdmissionQuery(
            door: door, remote: SocketAddress(ip: Driver.ip(from.source), port: port),
            local: from.local.map { SocketAddress(ip: Driver.ip($0), port: 7455) },
            interface: from.receivedOn.flatMap { Driver.interfaces[$0] })
    }

    func ask(_ query: AdmissionQuery) -> AdmissionAnswer.Decision {
        input { $0.admission(query, $1) }.decision
    }

    /// Every call up to the one that says what it became.
    func admit(_ query: AdmissionQuery, _ calls: Calls) -> AdmissionAnswer.Decision? {
        if calls == .all {
            var before = query
            before.handshake = nil
            let start = ask(before)
            if start != .proceed { return start }
        }
        return calls == .last ? nil : ask(query)
    }

    func register(
        _ query: AdmissionQuery, hello: Hello? = nil, cable: CableVerdict = .not(.notLinkLocal)
    ) -> Outcome {
        let registration = input {
            $0.registerDelegated(query, hello: hello, cable: cable, counters: SessionCounters(), $1)
        }
        return switch registration {
        case .session(let view): .session(view.id)
        case .goodbye(let goodbye, _): .goodbye(goodbye.reason)
        case .refuse(let word): .refused(word)
        case .full: .refused(.limit)
        }
    }

    func delegatedSession(
        _ door: Door, _ word: String, _ from: From = .lan, port: UInt16 = 50_000, hello: Hello? = nil
    ) -> SessionID? {
        var query = query(door, from, port: port)
        query.handshake = .init(alpn: "sill/1", fingerprint: Driver.key(word))
        if case .session(let id) = register(query, hello: hello) { return id }
        return nil
    }

    /// The kind 20 of a pairing message; nil when the connection is closed without one.
    func deliver(
        _ query: AdmissionQuery, _ request: PairRequest?, cable: CableVerdict = .not(.notLinkLocal)
    ) -> PairResult? {
        guard case .waiting(let id) = input({ $0.delegatedPairing(query, request, cable: cable, $1) })
        else { return nil }
        return answer(to: id)
    }
}
