// SPDX-License-Identifier: Apache-2.0

package import Policy

/// Settings that are wanted, on their way to the store, and stored.
extension Core {
    /// A change of some fields, made by `body`: absolute values, whatever was there before.
    package func settingsChange<E: Error>(_ body: (inout Settings) throws(E) -> Void) throws(E) -> Change {
        var (proposed, stored) = (proposedSettings, storedSettings)
        try body(&proposed)
        try body(&stored)
        return .settings(SettingsWish(onProposed: proposed, onStored: stored))
    }

    /// The stored settings with every change that is on its way to the store: what the next one is made from, so that it
    /// neither undoes them nor takes their old values for its own.
    var proposedSettings: Settings {
        var settings = storedSettings
        for (_, change) in pendingChanges.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if case .settings(let values, let requirePairing) = change {
                settings = settings.applying(values, requirePairing: requirePairing)
            }
        }
        return settings
    }

    /// What the store has to be given for a wish: also a value that is on its way already. Were it left to that one, the
    /// answer would promise what may yet fail.
    func toStore(_ wish: SettingsWish) -> (values: [String: String?], requirePairing: Bool?) {
        let (proposed, stored) = (proposedSettings, storedSettings)
        let values = wish.onProposed.stored(changedFrom: proposed).merging(
            wish.onStored.stored(changedFrom: stored)
        ) { wanted, _ in wanted }
        let wanted = wish.onProposed.requirePairing
        let isSaid =
            wanted != proposed.requirePairing || wish.onStored.requirePairing != stored.requirePairing
        return (values, isSaid ? wanted : nil)
    }

    /// What is stored for a wish, in the words of the change log: a value that is on its way already as a change of what is
    /// stored, any other as a change of what is on its way.
    func words(of wish: SettingsWish) -> String {
        let (proposed, stored) = (proposedSettings, storedSettings)
        let changed = wish.onProposed.stored(changedFrom: proposed)
        let again = stored.stored(changedFrom: wish.onStored).filter { changed[$0.key] == nil }
        let isAgain = wish.onProposed.requirePairing == proposed.requirePairing
        let old = proposed.applying(again, requirePairing: isAgain ? stored.requirePairing : nil)
        return SettingsChangeLog.words(from: old, to: wish.onProposed)
    }
}
