// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import StateDirectory
internal import Synchronization
internal import Wire

/// The identity the service serves now, whole: what a handshake needs and what the API shows. Read for every new
/// connection and signature, never kept by a reader; a rotation replaces it in one step.
///
/// It is replaced by an effect of the core, under the core's lock: a reader inside the core's entry sees the one that
/// fits the core's word.
final class LiveIdentity: Sendable {
    /// One identity with everything made from its key.
    struct Served: Sendable {
        let key: HostKey
        let certificate: [UInt8]
        let tls: TLSServerContext
        let createdAt: WallTime

        /// Makes certificate and TLS context. Throws when the key cannot sign.
        init(_ identity: KeptIdentity) throws(CryptoError) {
            key = identity.key
            certificate = try key.certificate()
            tls = try TLSServerContext(key: key, certificateDER: certificate)
            createdAt = identity.createdAt
        }
    }

    private let served: Mutex<(now: Served, next: Served?)>

    init(_ served: Served) { self.served = Mutex((served, nil)) }

    var current: Served { served.withLock { $0.now } }

    /// The one that is to come, ready, so that adopting it cannot fail.
    func prepare(_ next: Served) { served.withLock { $0.next = next } }

    /// Serves what was prepared, if it is this one.
    func adopt(_ fingerprint: Fingerprint) {
        served.withLock { served in
            guard let next = served.next, next.key.fingerprint == fingerprint else { return }
            served = (next, nil)
        }
    }
}
