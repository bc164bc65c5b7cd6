// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// Changes of an admin: proposed, committed by the store, and only then true (03 §11.2). The order is always commit,
/// publish, goodbyes, answer.
extension Core {
    /// Hands a change to the store; its end comes as effect `changeDone`.
    package mutating func propose(_ change: Change, actor: Actor, _ moment: Moment) -> ProposalAnswer {
        settle(moment)
        if isStopping { return .refused(.stopping) }
        if rotation != nil { return .refused(.rotationInProgress) }
        switch change {
        case .rename(let id, let name): return proposeRename(id, name, actor, moment)
        case .remove(let id): return proposeRemoval(id, actor, moment)
        case .settings(let settings): return proposeSettings(settings, actor, moment)
        case .importDevices(let records, let restoreRemoved):
            return proposeImport(records, restoreRemoved: restoreRemoved, actor, moment)
        case .rotate(let identity, let confirm):
            return proposeRotation(identity, confirm: confirm, actor, moment)
        }
    }

    /// The store's answer to a commit.
    package mutating func committed(_ id: ChangeID, _ result: CommitResult, _ moment: Moment) {
        settle(moment)
        guard let change = pendingChanges.removeValue(forKey: id) else { return }
        if id == rotation { rotation = nil }
        if case .failed(let message) = result {
            counters.failedCommits += 1
            log(.error, "not saved, nothing changed", [("problem", message)])
            switch change {
            case .pairing(let pairing): fail(pairing, moment)
            // Tried again at the next session (04 §6).
            case .bindCable(let key, let device): cables.release(device, of: key)
            default: emit(.changeDone(id, .failed(message: message)))
            }
            return
        }
        switch change {
        case .rename(let key, let name): finishRename(id, key, name)
        case .remove(let key, let tombstone): finishRemoval(id, key, tombstone, moment)
        case .settings(let values, let requirePairing): finishSettings(id, values, requirePairing, moment)
        case .importDevices(let records, let imported, let updated, let restored, let skipped):
            for key in restored { tombstones[key] = nil }
            for record in records { put(record) }
            publish()
            for record in records { showInSessions(record) }
            log(.info, "imported", [("new", String(imported)), ("updated", String(updated))])
            emit(
                .changeDone(id, .imported(imported: imported, updated: updated, removedSkipped: skipped)))
        case .pairing(let pairing): finish(pairing, moment)
        case .bindCable(let key, let device): finishBinding(key, device)
        case .rotate(let identity, let actor): finishRotation(id, identity, actor, moment)
        }
    }

    /// Remembers what to do when the store has answered.
    @discardableResult mutating func commit(_ change: PendingChange, _ commit: StoreCommit) -> ChangeID {
        lastChange += 1
        let id = ChangeID(rawValue: lastChange)
        pendingChanges[id] = change
        emit(.commit(id, commit))
        return id
    }

    private mutating func proposeRename(
        _ id: SillID, _ name: String, _ actor: Actor, _ moment: Moment
    ) -> ProposalAnswer {
        guard let record = device(id) else { return .refused(.deviceNotFound) }
        let cleaned = Label.clean(name)
        if cleaned.isEmpty { return .refused(.emptyName) }
        let row = AuditRow(
            at: moment.wall, actor: actor.text, action: "device.rename", device: id.text, outcome: "ok",
            detail: "\(record.name) → \(cleaned)")
        return .pending(
            commit(
                .rename(record.fingerprint, cleaned),
                StoreCommit(change: .renameDevice(record.fingerprint, cleaned), audit: [row])))
    }

    private mutating func finishRename(_ id: ChangeID, _ key: Fingerprint, _ name: String) {
        guard var record = devices[key] else {
            emit(.changeDone(id, .failed(message: "the device was removed meanwhile")))
            return
        }
        let old = record.name
        record.name = name
        put(record)
        publish()
        showInSessions(record)
        log(.info, "renamed", [("device", key.shortName), ("name", "\(old) → \(name)")])
        emit(.event(.deviceRenamed(record)))
        emit(.changeDone(id, .renamed(record)))
    }

    private mutating func proposeRemoval(_ id: SillID, _ actor: Actor, _ moment: Moment) -> ProposalAnswer {
        guard let record = device(id) else { return .refused(.deviceNotFound) }
        let tombstone = Tombstone(
            fingerprint: record.fingerprint, removedAt: moment.wall, removedBy: actor.text)
        let row = AuditRow(
            at: moment.wall, actor: actor.text, action: "device.remove", device: id.text, outcome: "ok",
            detail: record.name)
        return .pending(
            commit(
                .remove(record.fingerprint, tombstone),
                StoreCommit(change: .removeDevice(record.fingerprint, tombstone), audit: [row])))
    }

    private mutating func finishRemoval(
        _ id: ChangeID, _ key: Fingerprint, _ tombstone: Tombstone, _ moment: Moment
    ) {
        let removed = take(key)
        tombstones[key] = tombstone
        publish()
        let ending = table.all(of: key).filter { $0.view.goodbye == nil }
        for session in ending { end(session.view.id, .removed, moment) }
        if let removed {
            log(.info, "removed", [("device", key.shortName), ("name", removed.name)])
            emit(.event(.deviceRemoved(removed)))
        }
        emit(.changeDone(id, .removed(closedSessions: ending.count)))
    }

    private mutating func proposeSettings(
        _ wish: SettingsWish, _ actor: Actor, _ moment: Moment
    ) -> ProposalAnswer {
        let (values, requirePairing) = toStore(wish)
        for field in overridden where values[field] != nil { return .refused(.overridden(field: field)) }
        guard !values.isEmpty || requirePairing != nil else {
            lastChange += 1
            let id = ChangeID(rawValue: lastChange)
            emit(.changeDone(id, .settings(settings)))
            return .pending(id)
        }
        let row = AuditRow(
            at: moment.wall, actor: actor.text, action: "settings.change", outcome: "ok",
            detail: words(of: wish))
        return .pending(
            commit(
                .settings(values, requirePairing: requirePairing),
                StoreCommit(
                    change: .settings(values: values, requirePairing: requirePairing), audit: [row])))
    }

    private mutating func finishSettings(
        _ id: ChangeID, _ values: [String: String?], _ requirePairing: Bool?, _ moment: Moment
    ) {
        let old = settings
        let oldStored = storedSettings
        // The change, not the whole it was made from: another may have been committed in between.
        setSettings(stored: storedSettings.applying(values, requirePairing: requirePairing))
        // An earlier one has brought all of it.
        if storedSettings == oldStored { return emit(.changeDone(id, .settings(settings))) }
        publish()
        log(.info, "settings", [("change", SettingsChangeLog.words(from: old, to: settings))])
        if old.remoteAccess && !settings.remoteAccess && opened?.isForRemote == true {
            closeWindow(.cancelled, quiets: true, actor: .service, moment)
        }
        if GoodbyePolicy.concernsSessions(old, settings) { endSessions(old, moment) }
        updateDoors(moment)
        refreshAdvertisement()
        refreshHostInfo()
        refreshQuality()
        emit(.event(.settingsChanged(settings)))
        emit(.changeDone(id, .settings(settings)))
    }

    /// The goodbyes of 03 §11.1, and what Direct cuts.
    private mutating func endSessions(_ old: Settings, _ moment: Moment) {
        for session in table.all() where session.view.goodbye == nil {
            let view = session.view
            let facts = GoodbyePolicy.Facts(
                door: view.door, origin: view.origin,
                isPaired: view.fingerprint.map { devices.contains($0) } ?? false,
                version: view.hello?.versionOrZero ?? .zero)
            switch GoodbyePolicy.ending(facts, old, settings) {
            case .goodbye(let goodbye): end(view.id, goodbye, moment)
            case .update: end(view.id, updateGoodbye(view.hello), moment)
            case .cut: cut(view, moment)
            case nil: break
            }
        }
        guard old.direct && !settings.direct else { return }
        for (id, connection) in connections where connection.placement.origin == .direct {
            forget(id)
            emit(.closeConnection(id))
        }
    }

    private mutating func proposeImport(
        _ records: [DeviceRecord], restoreRemoved: Bool, _ actor: Actor, _ moment: Moment
    ) -> ProposalAnswer {
        var taken: [DeviceRecord] = []
        var restored: [Fingerprint] = []
        var skipped: [SillID] = []
        var updated = 0
        // A removal on its way to the store is there first.
        let leaving = Set(
            pendingChanges.values.compactMap { if case .remove(let key, _) = $0 { key } else { nil } })
        // Of two lines with one key the later counts, and the key counts once.
        var last: [Fingerprint: Int] = [:]
        for (index, record) in records.enumerated() { last[record.fingerprint] = index }
        for (index, record) in records.enumerated() where last[record.fingerprint] == index {
            let isLeaving = leaving.contains(record.fingerprint)
            if !isLeaving, var known = devices[record.fingerprint] {
                known.name = record.name
                known.model = record.model ?? known.model
                taken.append(known)
                updated += 1
            } else if !isLeaving, tombstones[record.fingerprint] == nil {
                taken.append(record)
            } else if restoreRemoved {
                restored.append(record.fingerprint)
                taken.append(record)
            } else {
                skipped.append(record.id)
            }
        }
        let imported = taken.count - updated
        let row = AuditRow(
            at: moment.wall, actor: actor.text, action: "device.import", outcome: "ok",
            detail: "\(imported) new, \(updated) updated, \(skipped.count) removed ones skipped")
        return .pending(
            commit(
                .importDevices(
                    taken, imported: imported, updated: updated, restored: restored, skipped: skipped),
                StoreCommit(
                    change: .importDevices(taken, clearTombstones: restored), audit: [row])))
    }
}
