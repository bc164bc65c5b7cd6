internal import Core
internal import CryptoEngine
internal import Wire

/// Makes kind 18 payloads: what the core says about this host, stamped with the time of signing and signed (spec 01 §6).
struct HostInfoSigner: Sendable {
    let identity: LiveIdentity
    let core: SharedCore
    let wall: @Sendable () -> WallTime
    private let issued: IssueClock

    init(identity: LiveIdentity, core: SharedCore, wall: @escaping @Sendable () -> WallTime) {
        self.identity = identity
        self.core = core
        self.wall = wall
        issued = IssueClock(wall)
    }

    /// A payload signed now. Throws when the key cannot sign.
    func payload() throws(CryptoError) -> [UInt8] {
        // Together: what the core says names the key that is to sign it.
        var (info, key) = core.enter { core, _ in (core.hostInfo, identity.current.key) }
        info.issuedAt = issued.stamp().seconds
        let bytes = info.encode()
        return SignedHostInfo(info: bytes, key: key.point, signature: try key.sign(bytes)).encode()
    }

    /// The whole message, header and payload; nil when the key cannot sign (no session then gets a kind 18).
    func message() -> [UInt8]? {
        guard let payload = try? payload() else { return nil }
        return encodeMessage(kind: .hostInfo, timestamp: wall().seconds, payload: payload)
    }
}
