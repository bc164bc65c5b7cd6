// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Wire

/// The stored form of "require pairing" (spec 03 section 4.2): only the host's own signature turns it off, so a copied
/// or edited store never opens the home door.
enum RequirePairing {
    static let on = "1"
    private static let offPrefix = "0."

    /// Whether `stored` turns it off. Everything but this key's signature for this host means on.
    static func isOff(_ stored: String?, key: HostKey) -> Bool {
        guard let stored, stored.hasPrefix(offPrefix),
            let signature = Base64URL.decode(String(stored.dropFirst(offPrefix.count))),
            let own = try? PublicKey(point: key.point)
        else { return false }
        return own.verify(signature: signature, of: statement(key))
    }

    /// What to store. Throws when the key cannot sign now; then nothing may be saved.
    static func text(_ isOn: Bool, key: HostKey) throws(CryptoError) -> String {
        if isOn { return on }
        return offPrefix + Base64URL.encode(try key.sign(statement(key)))
    }

    private static func statement(_ key: HostKey) -> [UInt8] {
        Array("sill-require-pairing-off-v1\n\(key.fingerprint.id.text)".utf8)
    }
}
