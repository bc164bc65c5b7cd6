// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Who a door admits (03 §3.6, §5). Every answer depends on nothing but its arguments, and all of them are asked
/// again whenever something may have changed: at accept, in the handshake, at ready, after the gate.
package enum DoorPolicy {
    /// The switches a verdict may depend on.
    package struct Switches: Sendable, Hashable {
        /// A home session needs a paired key.
        package var requirePairing: Bool
        /// The remote door serves paired devices.
        package var remoteAccess: Bool
        /// Internet access **and** remote access.
        package var effectiveInternet: Bool
        /// A window for remote is open.
        package var remotePairingOpen: Bool

        package init(
            requirePairing: Bool, remoteAccess: Bool, effectiveInternet: Bool, remotePairingOpen: Bool
        ) {
            self.requirePairing = requirePairing
            self.remoteAccess = remoteAccess
            self.effectiveInternet = effectiveInternet
            self.remotePairingOpen = remotePairingOpen
        }
    }

    /// Step C's answers.
    package enum Ready: Sendable, Equatable {
        /// A session, by way of the gate.
        case session
        /// One kind 19 is read.
        case pairing
        /// Told why not.
        case goodbye(Goodbye)
        /// Closed, word `unpaired`.
        case refuse
    }

    /// Where a kind 19 goes (03 §5.6).
    package enum PairingRoute: Sendable, Equatable {
        /// `closed`, no try.
        case closed
        /// The cancel rule of 03 §12.5.
        case cancel
        /// The ask rule of 03 §12.
        case ask
        /// The window judges it.
        case window
    }

    /// Whether the door can take connections of this origin. Home: loopback, direct, lan. Remote: loopback, lan, vpn,
    /// and internet only with internet access; never direct. (That Direct is off is another question: 03 §7.5 counts
    /// nothing for it.)
    package static func admits(_ door: Door, _ origin: Origin, internet: Bool) -> Bool {
        switch (door, origin) {
        case (_, .loopback), (_, .lan), (.home, .direct), (.remote, .vpn): true
        case (.remote, .internet): internet
        case (.home, .vpn), (.home, .internet), (.remote, .direct): false
        }
    }

    /// The word a connection of an origin that is not admitted is counted under.
    package static func word(_ door: Door, _ origin: Origin) -> RefusalWord {
        door == .home && origin == .vpn ? .vpn : .internet
    }

    /// Inside TLS (03 §5.2). No key and no known protocol: no. Home: `sill/1` for paired keys or while pairing is not
    /// required, `sill-pair/1` always. Remote: `sill/1` for paired keys whatever the switches, `sill-pair/1` only
    /// while a window for remote is open.
    package static func verify(
        door: Door, alpn: String?, hasKey: Bool, isPaired: Bool, _ switches: Switches
    ) -> Bool {
        guard hasKey, let alpn = alpn.flatMap(ALPN.init(name:)) else { return false }
        return switch (door, alpn) {
        case (.home, .session): isPaired || !switches.requirePairing
        case (.home, .pairing): true
        case (.remote, .session): isPaired
        case (.remote, .pairing): switches.remotePairingOpen
        }
    }

    /// At ready (03 §5.3). First match wins:
    ///
    /// - no key, no known protocol: refuse
    /// - home `sill/1`: paired or pairing not required, session; else refuse
    /// - home `sill-pair/1`: pairing
    /// - remote `sill/1`: not paired, refuse; remote access off, `remoteOff`; no room, `busy`; else session
    /// - remote `sill-pair/1`: a window for remote is open, pairing; else refuse
    package static func ready(
        door: Door, alpn: String?, hasKey: Bool, isPaired: Bool, hasRoom: Bool, _ switches: Switches
    ) -> Ready {
        guard hasKey, let alpn = alpn.flatMap(ALPN.init(name:)) else { return .refuse }
        switch (door, alpn) {
        case (.home, .session): return isPaired || !switches.requirePairing ? .session : .refuse
        case (.home, .pairing): return .pairing
        case (.remote, .session):
            if !isPaired { return .refuse }
            if !switches.remoteAccess { return .goodbye(.remoteOff) }
            return hasRoom ? .session : .goodbye(.busy)
        case (.remote, .pairing): return switches.remotePairingOpen ? .pairing : .refuse
        }
    }

    /// After the gate, and when a session is in the table (03 §5.5, §5.7); nil admits. First match wins:
    ///
    /// - remote: not paired, `removed`; remote access off, `remoteOff`; origin not admitted any more,
    ///   `internetOff`; no room, `busy`
    /// - home: paired, admitted; paired at ready, `removed`; pairing required, `pairingRequired`; else admitted
    package static func afterGate(
        door: Door, origin: Origin, hasKey: Bool, isPaired: Bool, wasPaired: Bool, hasRoom: Bool,
        _ switches: Switches
    ) -> Goodbye? {
        switch door {
        case .remote:
            if !hasKey || !isPaired { return .removed }
            if !switches.remoteAccess { return .remoteOff }
            if !admits(.remote, origin, internet: switches.effectiveInternet) { return .internetOff }
            return hasRoom ? nil : .busy
        case .home:
            if hasKey && isPaired { return nil }
            if wasPaired { return .removed }
            return switches.requirePairing || !hasKey ? .pairingRequired : nil
        }
    }

    /// Where a complete kind 19 goes. Version first, then the method, compared exactly; whatever else it says is a
    /// proof, known method or not. The remote door knows no asks, and while the open window is for home alone no
    /// proofs.
    package static func route(
        door: Door, version: Int, method: String, windowIsForHomeAlone: Bool
    ) -> PairingRoute {
        if version != 1 { return .closed }
        switch (door, method) {
        case (.home, "cancel"): return .cancel
        case (.home, "ask"): return .ask
        case (.remote, "cancel"), (.remote, "ask"): return .closed
        case (.remote, _): return windowIsForHomeAlone ? .closed : .window
        case (.home, _): return .window
        }
    }
}
