// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 03 §3.6 and §5, row by row.
struct DoorPolicyTests {
    static func switches(
        requirePairing: Bool = true, remote: Bool = true, internet: Bool = false, window: Bool = false
    ) -> DoorPolicy.Switches {
        DoorPolicy.Switches(
            requirePairing: requirePairing, remoteAccess: remote, effectiveInternet: internet,
            remotePairingOpen: window)
    }

    @Test(arguments: [
        (Door.home, Origin.loopback, true, true, RefusalWord.internet),
        (.home, .direct, true, true, .internet), (.home, .lan, true, true, .internet),
        (.home, .vpn, false, false, .vpn), (.home, .internet, false, false, .internet),
        (.remote, .loopback, true, true, .internet), (.remote, .direct, false, false, .internet),
        (.remote, .lan, true, true, .internet), (.remote, .vpn, true, true, .internet),
        (.remote, .internet, false, true, .internet),
    ])
    func admits(_ door: Door, _ origin: Origin, _ off: Bool, _ on: Bool, _ word: RefusalWord) {
        #expect(DoorPolicy.admits(door, origin, internet: false) == off)
        #expect(DoorPolicy.admits(door, origin, internet: true) == on)
        #expect(DoorPolicy.word(door, origin) == word)
    }

    @Test(arguments: [
        (Door.home, "sill/1", true, true, switches(), true),
        (.home, "sill/1", true, false, switches(), false),
        (.home, "sill/1", true, false, switches(requirePairing: false), true),
        (.home, "sill-pair/1", true, false, switches(), true),
        (.home, "sill/1", false, false, switches(requirePairing: false), false),
        (.remote, "sill/1", true, false, switches(window: true), false),
        (.remote, "sill-pair/1", true, false, switches(window: true), true),
        (.remote, "sill-pair/1", true, false, switches(), false),
        (.remote, "sill/1", true, true, switches(remote: false), true),
        (.home, "h2", true, true, switches(), false), (.home, "", true, true, switches(), false),
        (.home, "SILL/1", true, true, switches(), false),
    ])
    func verify(
        _ door: Door, _ alpn: String, _ hasKey: Bool, _ isPaired: Bool, _ switches: DoorPolicy.Switches,
        _ expected: Bool
    ) {
        #expect(
            DoorPolicy.verify(door: door, alpn: alpn, hasKey: hasKey, isPaired: isPaired, switches)
                == expected)
    }

    @Test(arguments: [
        (Door.remote, "sill/1", true, true, switches(), DoorPolicy.Ready.session),
        (.remote, "sill/1", true, false, switches(), .goodbye(.busy)),
        (.remote, "sill/1", true, false, switches(remote: false), .goodbye(.remoteOff)),
        (.remote, "sill/1", false, true, switches(window: true), .refuse),
        (.home, "sill/1", true, false, switches(remote: false), .session),
        (.home, "sill/1", false, true, switches(), .refuse),
        (.home, "sill/1", false, true, switches(requirePairing: false), .session),
        (.home, "sill-pair/1", false, true, switches(), .pairing),
        (.remote, "sill-pair/1", false, true, switches(), .refuse),
        (.remote, "sill-pair/1", false, true, switches(window: true), .pairing),
        (.home, "h2", true, true, switches(), .refuse),
    ])
    func ready(
        _ door: Door, _ alpn: String, _ isPaired: Bool, _ hasRoom: Bool, _ switches: DoorPolicy.Switches,
        _ expected: DoorPolicy.Ready
    ) {
        #expect(
            DoorPolicy.ready(
                door: door, alpn: alpn, hasKey: true, isPaired: isPaired, hasRoom: hasRoom, switches)
                == expected)
    }

    struct AfterGate: Sendable {
        var door: Door
        var origin = Origin.lan
        var isPaired = true
        var wasPaired = true
        var hasRoom = true
        var switches = DoorPolicyTests.switches()
        var goodbye: Goodbye?
    }

    @Test(arguments: [
        AfterGate(door: .remote), AfterGate(door: .remote, isPaired: false, goodbye: .removed),
        AfterGate(door: .remote, switches: switches(remote: false), goodbye: .remoteOff),
        AfterGate(door: .remote, origin: .internet, goodbye: .internetOff),
        AfterGate(door: .remote, origin: .internet, switches: switches(internet: true)),
        AfterGate(door: .remote, origin: .vpn), AfterGate(door: .remote, hasRoom: false, goodbye: .busy),
        AfterGate(
            door: .home, isPaired: false, switches: switches(requirePairing: false), goodbye: .removed),
        AfterGate(door: .home, isPaired: false, wasPaired: false, goodbye: .pairingRequired),
        AfterGate(
            door: .home, isPaired: false, wasPaired: false, switches: switches(requirePairing: false)),
        AfterGate(door: .home, wasPaired: false), AfterGate(door: .home, hasRoom: false),
    ])
    func afterGate(_ row: AfterGate) {
        #expect(
            DoorPolicy.afterGate(
                door: row.door, origin: row.origin, hasKey: true, isPaired: row.isPaired,
                wasPaired: row.wasPaired, hasRoom: row.hasRoom, row.switches) == row.goodbye)
    }

    @Test(arguments: [
        (2, "qr", DoorPolicy.PairingRoute.closed, DoorPolicy.PairingRoute.closed),
        (2, "ask", .closed, .closed), (0, "cancel", .closed, .closed), (1, "cancel", .cancel, .closed),
        (1, "ask", .ask, .closed), (1, "qr", .window, .window), (1, "code", .window, .window),
        (1, "fax", .window, .window), (1, "ASK", .window, .window), (1, "ask ", .window, .window),
    ])
    func route(
        _ version: Int, _ method: String, _ home: DoorPolicy.PairingRoute, _ remote: DoorPolicy.PairingRoute
    ) {
        for alone in [false, true] {
            #expect(
                DoorPolicy.route(
                    door: .home, version: version, method: method, windowIsForHomeAlone: alone) == home)
            let expected = remote == .window && alone ? .closed : remote
            #expect(
                DoorPolicy.route(
                    door: .remote, version: version, method: method, windowIsForHomeAlone: alone) == expected)
        }
    }
}
