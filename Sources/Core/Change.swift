// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// A change an admin asks for; done only when the store has committed it.
package enum Change: Sendable {
    /// Cleaned by the label rule here.
    case rename(SillID, String)
    /// Ends its sessions and leaves a tombstone.
    case remove(SillID)
    /// Made by `settingsChange`.
    case settings(SettingsWish)
    /// One transaction; tombstoned keys come back only when asked for.
    case importDevices([DeviceRecord], restoreRemoved: Bool)
    /// Another identity, whose key is on disk already; unpairs everybody. `confirm` must be this host's ID.
    case rotate(StoredIdentity, confirm: String)
}

/// What is wanted of the settings. A field that is on its way to the store already is wanted all the same: what is on its
/// way may fail.
package struct SettingsWish: Sendable, Equatable {
    /// The wish on top of what is stored, and then on top of each change that is on its way, in their order.
    let outcomes: [Settings]

    init(outcomes: [Settings]) { self.outcomes = outcomes }

    /// All of them as they shall be.
    package init(_ settings: Settings) { self.init(outcomes: [settings]) }
}

/// Whether a change is on its way.
package enum ProposalAnswer: Sendable, Equatable {
    /// The outcome follows as effect `changeDone`.
    case pending(ChangeID)
    /// Nothing happens.
    case refused(ChangeRefusal)
}

/// Why a change was not even tried.
package enum ChangeRefusal: Sendable, Equatable {
    /// 404 `deviceNotFound`.
    case deviceNotFound
    /// 400: nothing is left of the name after cleaning.
    case emptyName
    /// 409 `overridden`: the command line fixed this field for the run.
    case overridden(field: String)
    /// 409 `confirmMismatch`: the caller named another host.
    case confirmMismatch
    /// 409 `rotationInProgress`: nothing else changes until the identity has.
    case rotationInProgress
    /// The service is stopping.
    case stopping
}

/// How a change ended.
package enum ChangeOutcome: Sendable, Equatable {
    /// The record with its new name.
    case renamed(DeviceRecord)
    /// How many sessions got `removed`.
    case removed(closedSessions: Int)
    /// The settings in force.
    case settings(Settings)
    /// Keys that stayed away because they were removed once.
    case imported(imported: Int, updated: Int, removedSkipped: [SillID])
    /// How many sessions got `removed`; the identity in force is the new one.
    case rotated(closedSessions: Int)
    /// 503 `storeUnavailable`: nothing changed.
    case failed(message: String)
}

/// The store's answer.
package enum CommitResult: Sendable, Equatable {
    /// It is durable.
    case committed
    /// Nothing changed; the words are for the log and the admin.
    case failed(message: String)
}
