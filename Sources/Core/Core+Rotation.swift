// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// A new key for this host (07, `POST /v1/identity/rotate`). Every device pinned the old one, so all of them leave the
/// list, with tombstones, in the same commit; they pair again.
extension Core {
    /// `confirm` is the ID of the host that is to be no more.
    ///
    /// From here until the store has answered no key is promised anything: proofs and asks hear `busy`, and no other
    /// change is taken, so that none is committed after this one that rests on what was before it.
    mutating func proposeRotation(
        _ identity: StoredIdentity, confirm: String, _ actor: Actor, _ moment: Moment
    ) -> ProposalAnswer {
        guard confirm == host.fingerprint.id.text else { return .refused(.confirmMismatch) }
        let row = AuditRow(
            at: moment.wall, actor: actor.text, action: "identity.rotate", outcome: "ok",
            detail: "\(host.fingerprint.id.text) → \(identity.fingerprint.id.text)")
        let id = commit(
            .rotate(identity, by: actor),
            StoreCommit(change: .rotate(identity, removedBy: actor.text), audit: [row]))
        rotation = id
        return .pending(id)
    }

    /// The store holds the new identity and nobody is paired. A connection of the old key becomes no session and pairs
    /// nobody: the device behind it believes to talk to the host that was.
    mutating func finishRotation(
        _ id: ChangeID, _ identity: StoredIdentity, _ actor: Actor, _ moment: Moment
    ) {
        let old = host.fingerprint
        let removed = begin(identity)
        removed.forEach { record in
            tombstones[record.fingerprint] = Tombstone(
                fingerprint: record.fingerprint, removedAt: identity.createdAt, removedBy: actor.text)
            return true
        }
        publish()
        emit(.identityChanged(identity.fingerprint))
        // Its tag is of the old recognition key, which nobody has any more.
        refreshAdvertisement()
        for (id, connection) in connections {
            if case .admitted = connection.stage {
                // In the gate, or waiting for the cable rule: it hears `removed` when it is done.
                connections[id]?.isOfOldIdentity = true
            } else {
                forget(id)
                emit(.closeConnection(id))
            }
        }
        delegated.identityRotated()
        let ending = table.all().filter { $0.view.goodbye == nil }
        for session in ending { end(session.view.id, .removed, moment) }
        closeWindow(.cancelled, quiets: false, actor: actor, moment)
        refreshHostInfo()
        log(
            .warning, "identity rotated: every device must pair again",
            [
                ("host", identity.fingerprint.id.text), ("was", old.id.text),
                ("devices", String(removed.count)), ("sessions", String(ending.count)),
            ])
        emit(
            .event(
                .identityRotated(
                    IdentityRotation(
                        previous: old, current: identity.fingerprint, name: hostName,
                        removedDevices: removed.count, closedSessions: ending.count))))
        emit(.changeDone(id, .rotated(closedSessions: ending.count)))
    }
}
