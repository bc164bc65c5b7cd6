// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

/// `latchkey identity` for people. Pure.
package enum IdentityText {
    /// `identity show`.
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

    /// What `identity rotate` says before it asks; ends where the ID is typed.
    package static func question(_ identity: Identity, devices: Int, sessions: Int) -> String {
        let end = sessions == 1 ? "1 session ends" : "\(sessions) sessions end"
        return "This gives \(identity.name.visible) a new key.\n"
            + "  \(TimeText.count(devices, "device")) must pair again, and \(end) now.\n"
            + "  Only a backup made before brings the old key back.\n"
            + "Type the host's ID, \(identity.hostID), to go on: "
    }

    /// `identity rotate`, done.
    package static func rotated(from old: Identity, to answer: IdentityRotated) -> String {
        let new = answer.identity
        let closed =
            answer.closedSessions == 0
            ? "No session was open." : "Closed \(TimeText.count(answer.closedSessions, "session"))."
        return """
            \(new.name.visible) was \(old.hostID) and is now \(new.hostID) (\(new.shortName)). \(closed)
            Every device must pair again: latchkey pair

            """
    }
}
