// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Wire

/// What a kind 18 is worth (01 section 6.4). Pure.
enum HostInfoCheck {
    /// Checks 1 to 5, in order; nil as soon as one fails. The message is then ignored, and nothing is sent back.
    ///
    /// `session` is the key this very connection showed. Everybody a host serves gets its info, so somebody else can
    /// replay it: one whose signer is not this connection's key says nothing about this session.
    static func verify(payload: [UInt8], session: Fingerprint) -> VerifiedHostInfo? {
        guard let signed = try? SignedHostInfo(payload: payload),
            let key = try? PublicKey(point: signed.key),
            key.verify(signature: signed.signature, of: signed.info),
            let info = try? HostInfo(payload: signed.info),
            info.macID == key.fingerprint.id.text,
            key.fingerprint == session
        else { return nil }
        return VerifiedHostInfo(info: info, signer: key.fingerprint)
    }
}
