// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Which change ends which sessions (03 §11.1).
package enum GoodbyePolicy {
    /// What of a session decides.
    package struct Facts: Sendable, Equatable {
        /// Which door it came by.
        package var door: Door
        /// Where from.
        package var origin: Origin
        /// Whether its key is on the list now.
        package var isPaired: Bool
        /// The version its hello said; zero without one.
        package var version: Version

        package init(door: Door, origin: Origin, isPaired: Bool, version: Version) {
            self.door = door
            self.origin = origin
            self.isPaired = isPaired
            self.version = version
        }
    }

    /// What a session gets.
    package enum Ending: Sendable, Equatable {
        /// Told, then closed.
        case goodbye(Goodbye)
        /// The floor rose above it; the words are made from its hello.
        case update
        /// Closed without a word.
        case cut
    }

    /// Whether a change of settings can end any session at all, so that most changes look at none.
    package static func concernsSessions(_ old: Settings, _ new: Settings) -> Bool {
        (old.remoteAccess && !new.remoteAccess) || (old.effectiveInternet && !new.effectiveInternet)
            || (!old.requirePairing && new.requirePairing) || (old.direct && !new.direct)
            || old.floor < new.floor
    }

    /// First match wins: remote access off, every remote session `remoteOff`; internet access off, remote ones from
    /// the internet `internetOff`; pairing required, unpaired home ones `pairingRequired`; Direct off, direct ones cut;
    /// the floor raised, those below it `update`. Nothing else ends a session.
    package static func ending(_ session: Facts, _ old: Settings, _ new: Settings) -> Ending? {
        switch session.door {
        case .remote:
            if old.remoteAccess && !new.remoteAccess { return .goodbye(.remoteOff) }
            if session.origin == .internet && old.effectiveInternet && !new.effectiveInternet {
                return .goodbye(.internetOff)
            }
        case .home:
            if !session.isPaired && !old.requirePairing && new.requirePairing {
                return .goodbye(.pairingRequired)
            }
        }
        if session.origin == .direct && old.direct && !new.direct { return .cut }
        return old.floor < new.floor && session.version < new.floor ? .update : nil
    }
}
