import Bytes
import CryptoEngine
import Foundation
import Sockets
import Synchronization
import Testing
import Wire

/// A host in this process that does what a test's script says: the other end of the SDK, down to TLS.
final class ScriptedHost: Sendable {
    typealias Script = @Sendable (HostLink) throws -> Void

    let key: HostKey
    let port: UInt16
    private let listener: Socket
    private let context: TLSServerContext
    private let connections = Mutex<[HostLink]>([])

    /// Serves each connection on a thread of its own; the n-th connection gets the n-th script, later ones the last.
    init(
        key: HostKey? = nil, verify: @escaping @Sendable (TLSVerifyFacts) -> Bool = { _ in true },
        scripts: Script...
    ) throws {
        self.key = try key ?? HostKey.generate()
        context = try TLSServerContext(key: self.key, certificateDER: self.key.certificate())
        let address = try #require(SocketAddress("127.0.0.1:0"))
        listener = try Socket.tcpListener(address, v6Only: false)
        port = listener.localAddress()?.port ?? 0
        Thread.detachNewThread { [weak self] in
            var served = 0
            while let host = self {
                guard let link = host.acceptOne(verify) else { continue }
                let script = scripts.isEmpty ? nil : scripts[min(served, scripts.count - 1)]
                served += 1
                Thread.detachNewThread { link.serve(script) }
            }
        }
    }

    var endpoint: String { "127.0.0.1:\(port)" }

    /// What each connection has received so far, as it came from the network.
    var received: [[UInt8]] { connections.withLock { $0.map { $0.wire.withLock { $0 } } } }

    private func acceptOne(_ verify: @escaping @Sendable (TLSVerifyFacts) -> Bool) -> HostLink? {
        guard (try? listener.wait(for: .readable, until: monotonicNow() + .milliseconds(50))) == true,
            let accepted = try? accept(on: listener)
        else { return nil }
        let socket = accepted.intoSocket()
        let link = try? HostLink(socket, key: key, context: context, verify: verify)
        if let link { connections.withLock { $0.append(link) } }
        return link
    }
}

/// A script's end of one connection. Used by one thread only, the one that serves it.
final class HostLink: @unchecked Sendable {
    // Sendable: handed from the accepting thread to the serving one, and never shared, but for what `wire` guards.
    let key: HostKey
    /// All that came from the network.
    let wire = Mutex<[UInt8]>([])
    private let socket: Socket
    private let tls: TLSConnection
    private let plaintext = ByteBuffer(capacity: 0)
    private var reader = MessageReader { _ in 64 << 20 }

    struct Ended: Error {}

    init(
        _ socket: consuming Socket, key: HostKey, context: TLSServerContext,
        verify: @escaping (TLSVerifyFacts) -> Bool
    ) throws {
        self.socket = socket
        self.key = key
        tls = try TLSConnection(server: context, verify: verify)
    }

    var device: Fingerprint? { tls.peerFingerprint }
    var alpn: String? { tls.negotiatedALPN }

    func serve(_ script: ScriptedHost.Script?) {
        guard let script else { return }
        do {
            while tls.state == .handshaking { try pull() }
            try flush()
            if tls.state == .ready { try script(self) }
        } catch {
            // The device left; its test says whether that was right.
        }
        tls.shutdown()
        try? flush()
        drain()
    }

    /// Reads and drops what still comes, for a second at most, as hosts do after a goodbye: closing over unread bytes makes
    /// TCP answer with a reset, which can overtake what was said.
    private func drain() {
        let end = monotonicNow() + .seconds(1)
        let dropped = ByteBuffer(capacity: 0)
        while (try? socket.wait(for: .readable, until: end)) == true,
            let count = try? socket.read(into: dropped, max: 65536), count > 0
        {
            _ = dropped.take(dropped.count)
        }
    }

    func next() throws -> Message {
        while true {
            if let message = try reader.next() { return message }
            while tls.read(into: plaintext, limit: 65536) > 0 {}
            if plaintext.isEmpty {
                try pull()
            } else {
                reader.append(plaintext.take(plaintext.count))
            }
        }
    }

    /// The next message of a kind; others are dropped.
    func next(_ kind: MessageKind) throws -> Message {
        while true {
            let message = try next()
            if message.header.kind == kind { return message }
        }
    }

    func send(_ kind: MessageKind, _ payload: [UInt8] = []) throws {
        try sendRaw(encodeMessage(kind: kind, timestamp: 1, payload: payload))
    }

    func send(_ kind: MessageKind, _ text: String) throws { try send(kind, Array(text.utf8)) }

    func sendRaw(_ bytes: [UInt8]) throws {
        let buffer = ByteBuffer(capacity: 0)
        buffer.append(bytes)
        _ = tls.write(buffer, limit: bytes.count)
        try flush()
    }

    private func pull() throws {
        if case .failed = tls.state {
            try flush()
            throw Ended()
        }
        guard try socket.wait(for: .readable, until: monotonicNow() + .seconds(20)) else { throw Ended() }
        let incoming = ByteBuffer(capacity: 0)
        if try socket.read(into: incoming, max: 65536) == 0 { throw Ended() }
        let bytes = incoming.take(incoming.count)
        wire.withLock { $0 += bytes }
        tls.inbound.append(bytes)
        tls.advance()
        try flush()
    }

    private func flush() throws {
        while !tls.outbound.isEmpty {
            if try socket.write(from: tls.outbound) == nil {
                _ = try socket.wait(for: .writable, until: monotonicNow() + .seconds(20))
            }
        }
    }
}

// MARK: - What hosts say

extension HostLink {
    static let windowList = "{\"macName\":\"Desk\",\"windows\":[],\"active\":{\"none\":{}}}"

    /// The host's side of a pairing with a right answer, changed as a test wants.
    func answerPairing(secret: [UInt8], change: (inout PairResult) -> Void = { _ in }) throws {
        let request = try PairRequest(payload: try next().payload)
        guard let device else { throw Ended() }
        let key =
            request.method == "code"
            ? try Digest.pbkdf2SHA256(
                password: secret, salt: ProofText.codeSalt(fpMac: self.key.fingerprint),
                rounds: ProofText.codeRounds,
                length: 32) : secret
        let wanted = Digest.hmacSHA256(
            key: key, message: ProofText.device(fpDevice: device, fpMac: self.key.fingerprint))
        guard request.proof == Base64URL.encode(wanted) else {
            return try send(.pairResult, PairResult.refused(.code, triesLeft: 4).encode())
        }
        let proof = Digest.hmacSHA256(
            key: key, message: ProofText.mac(fpDevice: device, fpMac: self.key.fingerprint))
        var result = PairResult(
            ok: true, proof: Base64URL.encode(proof), macID: self.key.fingerprint.id.text, name: "Desk",
            recognitionKey: Base64URL.encode([UInt8](repeating: 0x11, count: 32)))
        change(&result)
        try send(.pairResult, result.encode())
    }

    /// Kind 18, signed by `signer` (this host unless said otherwise).
    func hostInfo(
        name: String = "Desk", issuedAt: Double, remoteAccess: Bool = true, addresses: [HostAddress] = [],
        signer: HostKey? = nil
    ) throws -> [UInt8] {
        let signer = signer ?? key
        let info = HostInfo(
            macID: signer.fingerprint.id.text, name: name, issuedAt: issuedAt, remoteAccess: remoteAccess,
            remotePort: 7455, internet: false, addresses: addresses
        ).encode()
        return try SignedHostInfo(info: info, key: signer.point, signature: signer.sign(info)).encode()
    }
}
