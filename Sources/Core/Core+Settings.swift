// SPDX-License-Identifier: Apache-2.0

package import Policy

/// Settings that are wanted, on their way to the store, and stored.
extension Core {
    /// A change of some fields, made by `body`: absolute values, whatever was there before. To be proposed in the same entry
    /// of the core.
    package func settingsChange<E: Error>(_ body: (inout Settings) throws(E) -> Void) throws(E) -> Change {
        var outcomes = settingsOnTheWay
        for index in outcomes.indices { try body(&outcomes[index]) }
        return .settings(SettingsWish(outcomes: outcomes))
    }

    /// The stored settings, and behind them what each change that is on its way to the store makes of them.
    var settingsOnTheWay: [Settings] {
        var states = [storedSettings]
        for (_, change) in pendingChanges.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if case .settings(let values, let requirePairing) = change, let last = states.last {
                states.append(last.applying(values, requirePairing: requirePairing))
            }
        }
        return states
    }

    /// What the store has to be given for a wish: also a value that is on its way already, and one that is in force while
    /// another is on its way. Each of those may yet fail, and the answer promises what this wish names.
    func toStore(_ wish: SettingsWish) -> (values: [String: String?], requirePairing: Bool?) {
        var values: [String: String?] = [:]
        var isPairingSaid = false
        for (state, outcome) in pairs(of: wish) {
            values.merge(outcome.stored(changedFrom: state)) { value, _ in value }
            if outcome.requirePairing != state.requirePairing { isPairingSaid = true }
        }
        return (values, isPairingSaid ? wish.outcomes.last?.requirePairing : nil)
    }

    /// What is stored for a wish, in the words of the change log: a value that is on its way already as a change of what is
    /// stored, any other as a change of what is on its way.
    func words(of wish: SettingsWish) -> String {
        let pairs = pairs(of: wish)
        guard let (stored, onStored) = pairs.first, let (proposed, onProposed) = pairs.last else { return "" }
        let changed = onProposed.stored(changedFrom: proposed)
        let again = stored.stored(changedFrom: onStored).filter { changed[$0.key] == nil }
        let isAgain = onProposed.requirePairing == proposed.requirePairing
        let old = proposed.applying(again, requirePairing: isAgain ? stored.requirePairing : nil)
        return SettingsChangeLog.words(from: old, to: onProposed)
    }

    /// Each state that the settings may be in when the wish is stored, with what the wish makes of it.
    private func pairs(of wish: SettingsWish) -> [(state: Settings, outcome: Settings)] {
        let states = settingsOnTheWay
        return Array(zip(states.suffix(wish.outcomes.count), wish.outcomes.suffix(states.count)))
    }
}
