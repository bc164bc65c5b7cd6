// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

/// `latchkey identity show` for people. Pure.
package enum IdentityText {
    package static func details(_ identity: Identity, now: WallTime, style: Style) -> String {
        var rows = Columns()
        rows.add("Name", identity.name, .strong)
        rows.add("Host ID", identity.hostID)
        rows.add("Short name", identity.shortName)
        rows.add("Fingerprint", identity.fingerprint)
        rows.add("Public key", identity.publicKey)
        rows.add("Key made", TimeText.relative(identity.createdAt, to: now))
        rows.add("Key kept in", identity.keyStorage)
        return rows.text(style)
    }
}
