// SPDX-License-Identifier: Apache-2.0

package import Core
internal import CryptoEngine
internal import Policy
internal import Store
internal import Wire

/// The core over a state directory without the service: the same rules and audit rows, one change at a time (09.32).
package struct OfflineCore: ~Copyable {
    package let directory: StateDirectory
    /// For lists and look-ups. Nobody is connected.
    package private(set) var core: Core

    /// Takes what was opened with purpose `commandLine`. `fallbackName` is the machine's own name.
    package init(_ opened: OpenedState, fallbackName: String, moment: Moment) {
        directory = opened.directory
        core = Core(
            host: opened.directory.hostFacts(
                fallbackName: fallbackName, startedAt: moment.wall, bootWall: moment.wall,
                sessionPrefix: "offline",
                version: ""),
            settings: opened.settings, overrides: SettingsOverrides(), devices: opened.devices,
            tombstones: opened.tombstones, primitives: .openSSL)
    }

    /// How a change ended.
    package enum Answer: Sendable, Equatable {
        /// Committed, or failed in the store with nothing changed.
        case done(ChangeOutcome)
        /// Not even tried.
        case refused(ChangeRefusal)
    }

    /// Decides, commits, and waits for the disk.
    package mutating func apply(_ change: Change, actor: Actor, _ moment: Moment) -> Answer {
        switch core.propose(change, actor: actor, moment) {
        case .refused(let why): return .refused(why)
        case .pending(let wanted):
            var outcome: ChangeOutcome?
            // A commit's answer is an input, and may itself call for effects.
            while true {
                let effects = core.takeEffects()
                if effects.isEmpty { break }
                for effect in effects {
                    switch effect {
                    case .commit(let id, let commit):
                        core.committed(id, directory.committer.commitNow(commit), moment)
                    case .record(let commit): _ = directory.committer.commitNow(commit)
                    case .changeDone(let id, let done) where id == wanted: outcome = done
                    default: break  // doors, sessions, events: there are none here
                    }
                }
            }
            return .done(outcome ?? .failed(message: "the change was not finished"))
        }
    }
}

extension Primitives {
    /// The core's two functions, from OpenSSL.
    package static var openSSL: Primitives {
        Primitives(
            hmacSHA256: { key, message in Digest.hmacSHA256(key: key, message: message) },
            equal: { left, right in Digest.equal(left, right) })
    }
}
