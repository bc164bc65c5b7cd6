// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// Silence and drain (03 §14), routes (03 §3.7), goodbyes (03 §11.1).
struct SessionRulesTests {
    struct Sweep: Sendable {
        var door: Door
        var now: Double
        var heard: Double
        var waiting: Double?
        var took = 0.0
        var cut: SessionSweep.Cut?
    }

    @Test(arguments: [
        Sweep(door: .remote, now: 8, heard: 0), Sweep(door: .remote, now: 8.1, heard: 0, cut: .silent),
        Sweep(door: .remote, now: 20, heard: 12), Sweep(door: .remote, now: 20.1, heard: 12, cut: .silent),
        Sweep(door: .remote, now: 7.9, heard: -1),
        Sweep(door: .remote, now: 14.9, heard: 14, waiting: -5, took: -5),
        Sweep(door: .remote, now: 15, heard: 14, waiting: 0, cut: .notDraining),
        Sweep(door: .remote, now: 29, heard: 28, waiting: 0, took: 14.1),
        Sweep(door: .remote, now: 29.1, heard: 28, waiting: 0, took: 14.1, cut: .notDraining),
        Sweep(door: .home, now: 100, heard: 0), Sweep(door: .home, now: 8, heard: 8, waiting: 1),
        Sweep(door: .home, now: 8.1, heard: 8, waiting: 1, cut: .notDraining),
        Sweep(door: .home, now: 20, heard: 8, waiting: 16),
        Sweep(door: .home, now: 20.1, heard: 8, waiting: 16, cut: .notDraining),
    ])
    func sweep(_ row: Sweep) {
        let facts = SessionSweep.Facts(
            door: row.door, admittedAt: at(0), heardAt: at(row.heard),
            waitingSince: row.waiting.map { at($0) },
            tookAt: at(row.took))
        #expect(SessionSweep.cut(facts, at: at(row.now)) == row.cut)
    }

    @Test(arguments: [
        (Door.home, Origin.lan, true, String?.none, "over the USB cable", false),
        (.home, .loopback, false, nil, "on this host", false),
        (.home, .direct, false, nil, "directly", false),
        (.home, .lan, false, nil, "on this network", false),
        (.home, .vpn, false, nil, "on this network", false),
        (.remote, .vpn, false, "Tailscale", "through Tailscale", true),
        (.remote, .vpn, false, "", "through your VPN", true),
        (.remote, .vpn, false, nil, "through your VPN", true),
        (.remote, .internet, false, nil, "over the internet", true),
        (.remote, .lan, false, nil, "by address", false),
        (.remote, .loopback, false, nil, "by address", false),
    ])
    func route(
        _ door: Door, _ origin: Origin, _ cable: Bool, _ vpn: String?, _ words: String, _ away: Bool
    ) {
        #expect(Route.words(door: door, origin: origin, cable: cable, vpn: vpn) == words)
        #expect(Route.isAway(door: door, origin: origin) == away)
    }

    /// 06 B3: what a device calls the way it dialled.
    static let dialledRoutes: [(String, String, Bool?, String)] = [
        ("vpn", "Tailscale", nil, "through Tailscale"),
        ("vpn", "Tailscale", true, "through Tailscale"),
        ("vpn", "VPN (wg0)", true, "through your VPN"), ("vpn", "VPN (wg0)", nil, "through your VPN"),
        ("vpn", "", nil, "through your VPN"), ("vpn", "Tailscale", false, "by address"),
        ("internet", "Router", true, "through your VPN"), ("internet", "Router", nil, "over the internet"),
        ("internet", "", false, "over the internet"), ("lan", "eth0", true, "through your VPN"),
        ("lan", "eth0", nil, "by address"), ("lan", "eth0", false, "by address"),
        ("another", "", nil, "over the internet"),
    ]

    @Test(arguments: dialledRoutes)
    func dialled(_ kind: String, _ via: String, _ usedTunnel: Bool?, _ words: String) {
        #expect(Route.dialled(kind: kind, via: via, usedTunnel: usedTunnel) == words)
    }

    static func settings(
        require: Bool = true, remote: Bool = true, internet: Bool = true, direct: Bool = true,
        floor: String = "0",
        port: Int = 7455
    ) -> Settings {
        var settings = Settings()
        settings.requirePairing = require
        settings.remoteAccess = remote
        settings.internetAccess = internet
        settings.direct = direct
        settings.minimumDeviceVersion = floor
        settings.remotePort = port
        return settings
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var what: String
        var old: Settings
        var new: Settings
        /// For a paired home one, an unpaired home one, a direct one, and remote ones from lan, vpn, internet.
        var endings: [String]
        var testDescription: String { what }
    }

    @Test(arguments: [
        Change(
            what: "pairing required", old: settings(require: false), new: settings(),
            endings: ["-", "pairingRequired", "-", "-", "-", "-"]),
        Change(
            what: "pairing not required", old: settings(), new: settings(require: false),
            endings: ["-", "-", "-", "-", "-", "-"]),
        Change(
            what: "remote access off", old: settings(), new: settings(remote: false),
            endings: ["-", "-", "-", "remoteOff", "remoteOff", "remoteOff"]),
        Change(
            what: "internet access off", old: settings(), new: settings(internet: false),
            endings: ["-", "-", "-", "-", "-", "internetOff"]),
        Change(
            what: "both off", old: settings(), new: settings(remote: false, internet: false),
            endings: ["-", "-", "-", "remoteOff", "remoteOff", "remoteOff"]),
        Change(
            what: "another port", old: settings(), new: settings(port: 9000),
            endings: ["-", "-", "-", "-", "-", "-"]),
        Change(
            what: "Direct off", old: settings(), new: settings(direct: false),
            endings: ["-", "-", "cut", "-", "-", "-"]),
        Change(
            what: "the floor raised", old: settings(), new: settings(floor: "1.2"),
            endings: ["-", "update", "-", "-", "update", "-"]),
        Change(
            what: "the floor lowered", old: settings(floor: "1.2"), new: settings(floor: "1"),
            endings: ["-", "-", "-", "-", "-", "-"]),
    ])
    func goodbyes(_ change: Change) throws {
        let new = try #require(Version("1.2"))
        let old = try #require(Version("1.1"))
        let sessions = [
            GoodbyePolicy.Facts(door: .home, origin: .lan, isPaired: true, version: new),
            GoodbyePolicy.Facts(door: .home, origin: .lan, isPaired: false, version: old),
            GoodbyePolicy.Facts(door: .home, origin: .direct, isPaired: true, version: new),
            GoodbyePolicy.Facts(door: .remote, origin: .lan, isPaired: true, version: new),
            GoodbyePolicy.Facts(door: .remote, origin: .vpn, isPaired: true, version: .zero),
            GoodbyePolicy.Facts(door: .remote, origin: .internet, isPaired: true, version: new),
        ]
        let endings = sessions.map { session in
            switch GoodbyePolicy.ending(session, change.old, change.new) {
            case nil: "-"
            case .cut: "cut"
            case .update: "update"
            case .goodbye(let goodbye): goodbye.reason
            }
        }
        #expect(endings == change.endings)
        let concerns = GoodbyePolicy.concernsSessions(change.old, change.new)
        #expect(concerns || endings.allSatisfy { $0 == "-" })
    }
}
