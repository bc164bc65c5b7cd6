// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Wire

/// What a host answered to an ask (02 section 8).
public struct AskAnswer: Sendable {
    /// What came of it.
    public enum Outcome: Sendable {
        /// Paired over the cable; the host is saved.
        case paired(SavedHost)
        /// Not paired: `shown`, `openOnMac`, `locked`, or a refusal.
        case told(PairingRefusal)
    }

    /// What came of it.
    public let outcome: Outcome
    /// What this device found about its end of the cable; nil when it was not to look.
    public let claim: CableClaim?
    /// Whose answer it is, for the proof that may follow.
    let host: Fingerprint
}

extension Device {
    /// Asks a host at its home door to pair or, where it cannot tell by itself, to show its code.
    ///
    /// With `mayClaimCable` the ask says that it came over the USB cable when that is so by ``CableClaim``, and only
    /// then; a host that sees the cable too pairs at once. Any key is accepted, and an answer of "paired" only in the one
    /// shape that the cable has. Throws `badAnswer` for any other "paired", or why the dial failed.
    public func ask(at endpoint: Endpoint, mayClaimCable: Bool = false) async throws(DeviceError) -> AskAnswer
    {
        try await ask(at: endpoint, claim: mayClaimCable ? CableClaim.read : nil)
    }

    /// The same with another way to judge this end; nil claims nothing.
    func ask(
        at endpoint: Endpoint, claim: (@Sendable (IPAddress) -> CableClaim)?
    ) async throws(DeviceError) -> AskAnswer {
        let answer = try await askOnce(endpoint, claim)
        guard case .told(let refusal) = answer.outcome, refusal.reason == "busy" else { return answer }
        try await Self.waitAsTold(refusal)
        return try await askOnce(endpoint, claim)
    }

    /// Pairs by the digits that the host shows since an ask: with the host that answered it, and no other.
    public func pair(code: String, at endpoint: Endpoint, after answer: AskAnswer) async throws(DeviceError)
        -> SavedHost
    {
        try await pair(code: code, at: endpoint, pin: answer.host)
    }

    private func askOnce(
        _ endpoint: Endpoint, _ judge: (@Sendable (IPAddress) -> CableClaim)?
    ) async throws(DeviceError) -> AskAnswer {
        let connection = try await openPairing(endpoint, pin: nil)
        guard let host = await connection.hostFingerprint else {
            throw DeviceError(.notSill, "what answers there has no usable key", reachedPeer: true)
        }
        var claim: CableClaim?
        if let judge {
            let dialled = connection.peer.ip
            claim = await blocking { judge(dialled) } ?? .fails(.unreadable)
        }
        let isClaimed = claim?.isClaimed ?? false
        let request = PairRequest(
            method: "ask", name: description.name, model: description.model, cable: isClaimed ? true : nil)
        try await connection.send(.pairRequest, request.encode())
        let message = try await connection.next()
        await connection.close()
        let result = try Self.readResult(message)
        guard result.ok else {
            return AskAnswer(outcome: .told(PairingRefusal(result)), claim: claim, host: host)
        }
        guard isClaimed, let accepted = AcceptedPairing(overCable: result, host: host) else {
            throw DeviceError(
                .badAnswer, "what answered says that it paired, but not as over the cable; nothing was saved",
                reachedPeer: true)
        }
        let saved = try save(
            Paired(host: host, accepted: accepted), method: "cable", port: defaultRemotePort, addresses: [],
            typed: endpoint)
        return AskAnswer(outcome: .paired(saved), claim: claim, host: host)
    }
}

extension PairingRefusal {
    /// One sentence for people, as the answer to an ask.
    public var askWords: String {
        switch reason {
        case "shown", "openOnMac", "locked", "busy": words
        default: message ?? "the host refused"
        }
    }
}
