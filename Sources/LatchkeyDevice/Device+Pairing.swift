// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets
internal import Wire

extension Device {
    /// What a `retryAfter` is clamped to, in seconds.
    private static let retryRange = 0.2...10.0
    private static let retryDefault = 1.0

    /// Pairs by a link: what a QR code holds, or the same text handed over otherwise.
    ///
    /// Dials `endpoint` alone when it is given, else the link's addresses one after the other, never in parallel: a
    /// window can be used once. Whoever answers with another key than the link's never sees this device's certificate.
    /// The host is saved only after its answer proved that it showed this code. Throws `badLink`, `noAddress`,
    /// `pairingRefused`, `notPairing`, `badAnswer`, or why the dial failed.
    public func pair(link text: String, at endpoint: Endpoint? = nil) async throws(DeviceError) -> SavedHost {
        let link = try Self.read(link: text)
        let endpoints = endpoint.map { [$0] } ?? link.addresses.map { Endpoint($0) }
        guard !endpoints.isEmpty else {
            throw DeviceError(
                .noAddress,
                "this link is for the host's own network and carries no address; say where the host is (host:port)"
            )
        }
        let secret = SecretBytes(link.secret)
        var targets = endpoints.map { $0.with(defaultPort: link.port) }[...]
        let deadline = monotonicNow() + DialRace.limit
        var failure: DeviceError?
        while !targets.isEmpty, monotonicNow() < deadline {
            do {
                let paired = try await exchange(
                    &targets, method: "qr", pin: link.fingerprint, until: deadline
                ) { _ in secret }
                var addresses = link.addresses.map { SavedAddress(Endpoint($0)) }
                addresses.removeAll { !SavedAddress.isKeepable($0.host, keepLoopback: store.keepLoopback) }
                return try save(paired, method: "qr", port: link.port, addresses: addresses, typed: endpoint)
            } catch {
                // The host has spoken: another address of it would say the same.
                if Self.isFinal(error) { throw error }
                if error.rank < (failure?.rank ?? .max) { failure = error }
            }
        }
        throw failure ?? DeviceError(.noAddress, "the link carries no address")
    }

    /// Pairs by the twelve digits on the host's screen.
    ///
    /// A typing mistake is found here and costs none of the host's tries (`codeLength`, `codeTypo`). Whoever answers with
    /// any key is asked, and that key is bound into both proofs: only a host that knows the code can answer rightly.
    public func pair(code typed: String, at endpoint: Endpoint) async throws(DeviceError) -> SavedHost {
        try await pair(code: typed, at: endpoint, pin: nil)
    }

    /// The same; `pin`, when there is one, is the key that answered the ask.
    func pair(
        code typed: String, at endpoint: Endpoint, pin: Fingerprint?
    ) async throws(DeviceError) -> SavedHost {
        let digits: String
        do {
            digits = try TypedCode.read(typed)
        } catch {
            switch error {
            case .length: throw DeviceError(.codeLength, "a code has twelve digits")
            case .typo:
                throw DeviceError(.codeTypo, "there is a typing mistake in the code; check it on the host")
            }
        }
        let password = SecretBytes(Array(digits.utf8))
        let target = endpoint.with(defaultPort: defaultRemotePort)
        var targets = [target][...]
        let deadline = monotonicNow() + DialRace.limit
        let paired = try await exchange(&targets, method: "code", pin: pin, until: deadline) { host in
            let salt = ProofText.codeSalt(fpMac: host)
            let key = await blocking {
                try? Digest.pbkdf2SHA256(
                    password: password.copy, salt: salt, rounds: ProofText.codeRounds, length: 32)
            }
            return (key ?? nil).map { SecretBytes($0) }
        }
        return try save(paired, method: "code", port: defaultRemotePort, addresses: [], typed: endpoint)
    }

    /// The refusals that another address of the same host would only repeat.
    private static func isFinal(_ error: DeviceError) -> Bool {
        [.pairingRefused, .notPairing, .badAnswer, .protocolError, .closed, .storage].contains(error.code)
    }

    private static func read(link text: String) throws(DeviceError) -> PairingLink {
        do {
            return try PairingLink.parse(text)
        } catch {
            let words =
                switch error {
                case .notALink: "this is not a pairing link"
                case .version: "this link is of another version; update this device"
                case .field(let name): "the link is damaged (field \(name))"
                case .macIDMismatch: "the link is damaged (its ID is not that of its key)"
                case .address(let value, _): "the link is damaged (address \(Label.clean(value)))"
                }
            throw DeviceError(.badLink, words)
        }
    }

    /// A pairing whose answer was verified.
    struct Paired: Sendable {
        let host: Fingerprint
        let accepted: AcceptedPairing
    }

    /// One exchange with the first of `targets` that is ready, repeated once, silently, when the host is busy (02 section
    /// 5.7). What has been dialled is taken out of `targets`.
    private func exchange(
        _ targets: inout ArraySlice<Endpoint>, method: String, pin: Fingerprint?,
        until deadline: MonotonicTime,
        key: @Sendable (Fingerprint) async -> SecretBytes?
    ) async throws(DeviceError) -> Paired {
        let opened = try await openPairing(&targets, pin: pin, until: deadline)
        do {
            return try await exchange(over: opened.connection, method: method, key: key)
        } catch {
            guard let refusal = error.refusal, refusal.reason == "busy" else { throw error }
            try await Self.waitAsTold(refusal)
        }
        let connection = try await openPairing(opened.endpoint, pin: pin)
        return try await exchange(over: connection, method: method, key: key)
    }

    /// The time a busy host wants until it is tried again.
    static func waitAsTold(_ refusal: PairingRefusal) async throws(DeviceError) {
        let told = refusal.retryAfter ?? retryDefault
        do {
            try await Task.sleep(for: .seconds(min(max(told, retryRange.lowerBound), retryRange.upperBound)))
        } catch {
            throw DeviceError(.closed, "the pairing was given up")
        }
    }

    /// A connection for one kind 19, and its answer's deadline running.
    func openPairing(_ target: Endpoint, pin: Fingerprint?) async throws(DeviceError) -> HostConnection {
        var targets = [target][...]
        return try await openPairing(&targets, pin: pin, until: monotonicNow() + DialRace.limit).connection
    }

    /// The same with the first of `targets` that is ready: strictly one after the other, since a window can be used once.
    private func openPairing(
        _ targets: inout ArraySlice<Endpoint>, pin: Fingerprint?, until deadline: MonotonicTime
    ) async throws(DeviceError) -> (connection: HostConnection, endpoint: Endpoint) {
        let dialled = Array(targets)
        let network = await blocking { DeviceNetwork.read() } ?? DeviceNetwork(nil)
        var run = DialRun(
            identity: identity,
            targets: dialled.map {
                DialRun.Target(place: DialCandidate($0, door: .remote), pins: pin.map { [$0] })
            },
            alpn: .pairing, network: network,
            // Any other kind than the answer is not to be read at all; 0 lets an empty one through to be refused.
            cap: { $0.kind == .pairResult ? MessageCaps.pairing : 0 })
        run.pace.whole = max(.zero, deadline - monotonicNow())
        let result = await run.run()
        guard let connection = result.connection, let index = result.place else {
            targets = []
            throw result.report.error ?? DeviceError(.noAnswer, "nothing answered")
        }
        targets = targets.dropFirst(index + 1)
        await connection.setDeadline(DialRace.answerLimit)
        return (connection, dialled[index])
    }

    private func exchange(
        over connection: HostConnection, method: String, key: @Sendable (Fingerprint) async -> SecretBytes?
    ) async throws(DeviceError) -> Paired {
        guard let host = await connection.hostFingerprint else {
            throw DeviceError(.notSill, "what answers there has no usable key", reachedPeer: true)
        }
        guard let secret = await key(host) else {
            await connection.close()
            throw DeviceError(.badAnswer, "the code's key could not be made")
        }
        let proofs = PairingProofs(device: store.key.fingerprint, host: host, key: secret)
        let request = PairRequest(
            method: method, proof: proofs.sent, name: description.name, model: description.model)
        try await connection.send(.pairRequest, request.encode())
        let message = try await connection.next()
        await connection.close()
        return Paired(host: host, accepted: try Self.judge(message, proofs))
    }

    /// What the host's answer means. Whatever does not verify leaves nothing behind.
    private static func judge(_ message: Message?, _ proofs: PairingProofs) throws(DeviceError)
        -> AcceptedPairing
    {
        let result = try readResult(message)
        if result.ok {
            guard let accepted = proofs.accept(result) else {
                throw DeviceError(
                    .badAnswer,
                    "what answered does not know this code, so it is not the host; nothing was saved",
                    reachedPeer: true)
            }
            return accepted
        }
        let refusal = PairingRefusal(result)
        var error = DeviceError(.pairingRefused, refusal.words, reachedPeer: true)
        error.refusal = refusal
        throw error
    }

    /// The one message of a host on a pairing connection.
    static func readResult(_ message: Message?) throws(DeviceError) -> PairResult {
        guard let message else {
            throw DeviceError(.refused, "the host closed the connection without an answer", reachedPeer: true)
        }
        guard message.header.kind == .pairResult, !message.payload.isEmpty,
            let result = try? PairResult(payload: message.payload)
        else {
            throw DeviceError(
                .badAnswer, "the host's answer could not be read; nothing was saved", reachedPeer: true)
        }
        return result
    }

    /// Saves a host that was just paired with.
    func save(
        _ paired: Paired, method: String, port: Int, addresses: [SavedAddress], typed: Endpoint?
    ) throws(DeviceError) -> SavedHost {
        guard
            var host = SavedHost(
                fingerprint: paired.host.base64url, name: paired.accepted.name,
                recognitionKey: paired.accepted.recognitionKey, remotePort: port, addresses: addresses,
                pairedAt: wallNow().seconds, method: method)
        else { throw DeviceError(.badAnswer, "the host has no usable key") }
        if let typed, SavedAddress.isKeepable(typed.host, keepLoopback: store.keepLoopback) {
            host.typedAddresses = [SavedAddress(typed)]
        }
        let saved = host
        try store.change { $0.add(saved) }
        return saved
    }
}

extension PairingRefusal {
    private static let known: Set<String> = Set(PairResult.Reason.allCases.map(\.rawValue))
    private static let messageLimit = 300

    /// A refusal as the wire has it, made safe to show (02 section 5.7).
    init(_ result: PairResult) {
        reason = result.reason ?? ""
        triesLeft = result.reason == "code" ? max(0, result.triesLeft ?? 0) : nil
        retryAfter = result.retryAfter
        // Generation 1 words its own reasons itself and ignores a message beside them.
        let cleaned =
            Self.known.contains(reason)
            ? nil : result.message.map { Label.clean($0, limit: Self.messageLimit) }
        message = cleaned?.isEmpty == true ? nil : cleaned
    }

    /// One sentence for people.
    public var words: String {
        switch reason {
        case "code":
            "wrong code; \(triesLeft ?? 0) more \(triesLeft == 1 ? "try" : "tries") before the host closes its window"
        case "expired": "the code has expired; open a new pairing window on the host"
        case "stopped": "wrong code, and that was the last try; open a new pairing window on the host"
        case "busy": "the host does not take a try just now; try again in a few seconds"
        case "shown": "the host shows a code now: scan it or type it"
        case "openOnMac": "open the pairing window on the host"
        case "locked": "the host is locked"
        default: message ?? "no pairing window takes this code; open one on the host"
        }
    }
}
