// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 06 A2, 03 §10 point 8, 09.18.
struct SettingsTests {
    @Test func nothingStoredIsTheDefaults() {
        #expect(Settings.load([:], requirePairingOff: false) == Settings())
    }

    /// The table of 06 A2.
    @Test func theDefaults() {
        let settings = Settings()
        #expect(settings.maxFPS == 120)
        #expect(settings.home.bitrate == 15_000_000 && settings.home.captureScale == 2)
        #expect(settings.away.bitrate == 4_000_000 && settings.away.captureScale == 1)
        #expect(!settings.direct && !settings.remoteAccess && settings.remotePort == 7455)
        #expect(!settings.internetAccess && settings.requirePairing)
    }

    /// Outside the range: clamped, each pair by itself. Inside: kept, preset or not.
    static let storedQualities: [([String: String], Quality, Quality, Int)] = [
        (
            ["home.bitrate": "999999", "home.captureScale": "1.49", "maxFPS": "23"],
            Quality(bitrate: 1_000_000, captureScale: 1), Quality(bitrate: 4_000_000, captureScale: 1), 24
        ),
        (
            ["away.bitrate": "200000001", "away.captureScale": "1.5", "maxFPS": "121"],
            Quality(bitrate: 15_000_000, captureScale: 2), Quality(bitrate: 200_000_000, captureScale: 2), 120
        ),
        (
            ["home.bitrate": "12345678", "away.bitrate": "1000000", "maxFPS": "24"],
            Quality(bitrate: 12_345_678, captureScale: 2), Quality(bitrate: 1_000_000, captureScale: 1), 24
        ),
        (
            ["home.bitrate": "x", "away.captureScale": "", "maxFPS": "60.5"],
            Quality(bitrate: 15_000_000, captureScale: 2), Quality(bitrate: 4_000_000, captureScale: 1), 120
        ),
    ]

    @Test(arguments: storedQualities)
    func qualities(_ stored: [String: String], _ home: Quality, _ away: Quality, _ maxFPS: Int) {
        let settings = Settings.load(stored, requirePairingOff: false)
        #expect(settings.home == home && settings.away == away && settings.maxFPS == maxFPS)
    }

    /// The away pair has keys of its own, and what did not change is not written.
    @Test(arguments: [true, false])
    func eachPairHasItsOwnKeys(_ isAway: Bool) {
        let (pair, name) = (QualityChangePolicy.pair(isAway), isAway ? "away" : "home")
        var settings = Settings()
        settings[keyPath: pair].bitrate = 8_000_000
        #expect(settings.stored(changedFrom: Settings()) == ["\(name).bitrate": "8000000"])
        settings = Settings()
        settings[keyPath: pair].captureScale = 3 - settings[keyPath: pair].captureScale
        #expect(Array(settings.stored(changedFrom: Settings()).keys) == ["\(name).captureScale"])
    }

    @Test(arguments: ["", "true", "yes", "2", "on", "0", "-1", "9999999999999999999999"])
    func whatCannotBeReadIsCareful(_ text: String) {
        let keys = [
            "remoteAccess", "internetAccess", "remotePort", "permanentMappings", "ipv6Pinhole", "direct",
            "portMapping", "stunServer",
        ]
        let settings = Settings.load(
            Dictionary(uniqueKeysWithValues: keys.map { ($0, text) }), requirePairingOff: false)
        #expect(settings.requirePairing)
        #expect(!settings.remoteAccess && !settings.internetAccess && !settings.direct)
        #expect(!settings.permanentMappings && !settings.ipv6Pinhole)
        #expect(settings.remotePort == (text == "0" ? 0 : 7455))
        #expect(settings.portMapping == "off" && settings.stunServer == nil)
    }

    @Test(arguments: [
        ("0", 0), ("1024", 1024), ("65535", 65535), ("1023", 7455), ("65536", 7455), ("80", 7455),
    ])
    func storedPorts(_ text: String, _ port: Int) {
        #expect(Settings.load(["remotePort": text], requirePairingOff: false).remotePort == port)
    }

    @Test func oldStoresAreClamped() {
        let settings = Settings.load(
            [
                "home.bitrate": "5", "away.bitrate": "900000000", "home.captureScale": "1.4",
                "away.captureScale": "1.5", "maxFPS": "240",
            ], requirePairingOff: true)
        #expect(settings.home == Quality(bitrate: 1_000_000, captureScale: 1))
        #expect(settings.away == Quality(bitrate: 200_000_000, captureScale: 2))
        #expect(settings.maxFPS == 120)
        #expect(!settings.requirePairing)
    }

    @Test func storedAndReadAgain() throws {
        let json = try JSON.parse(
            """
            {"name":"Studio","requirePairing":false,"remoteAccess":true,"remotePort":0,"internetAccess":true,
             "addressName":"home.example.net:17455","home":{"bitrate":25000000,"captureScale":1},
             "away":{"bitrate":8000000},"maxFPS":60,"minimumDeviceVersion":"1.2","portMapping":"upnp",
             "advertise":false,"stunServer":"stun.example.net:3478","permanentMappings":true,
             "ipv6Pinhole":true,"direct":true}
            """)
        let settings = try Settings.patch(json, on: Settings())
        let values = settings.stored(changedFrom: Settings())
        #expect(values["requirePairing"] == nil)
        #expect(values["home.bitrate"] == .some("25000000"))
        #expect(values["away.captureScale"] == nil)
        #expect(Settings.load(values.compactMapValues { $0 }, requirePairingOff: true) == settings)
        #expect(Settings().applying(values, requirePairing: false) == settings)
        #expect(settings.stored(changedFrom: settings).isEmpty)
        let back = Settings().stored(changedFrom: settings)
        #expect(back["addressName"] == .some(nil))
        #expect(settings.applying(back, requirePairing: true) == Settings())
    }

    @Test(arguments: [
        (#"{"remotePort":1023}"#, "remotePort", "1024 to 65535"),
        (#"{"remotePort":65536}"#, "remotePort", "0"),
        (#"{"remotePort":"7455"}"#, "remotePort", "1024"), (#"{"remotePort":null}"#, "remotePort", "1024"),
        (#"{"remoteAccess":1}"#, "remoteAccess", "true or false"), (#"{"x":1}"#, "x", "not a setting"),
        (#"{"home":{"bitrate":999999}}"#, "home.bitrate", "1000000 to 200000000"),
        (#"{"away":{"bitrate":200000001}}"#, "away.bitrate", "1000000 to 200000000"),
        (#"{"home":{"captureScale":3}}"#, "home.captureScale", "1 to 2"),
        (#"{"home":{"captureScale":1.5}}"#, "home.captureScale", "1 to 2"),
        (#"{"home":{"scale":1}}"#, "home.scale", "not a setting"), (#"{"home":5}"#, "home", "object"),
        (#"{"maxFPS":23}"#, "maxFPS", "24 to 120"), (#"{"maxFPS":121}"#, "maxFPS", "24 to 120"),
        (#"{"minimumDeviceVersion":"dev"}"#, "minimumDeviceVersion", "version"),
        (#"{"portMapping":"pcp"}"#, "portMapping", "off or upnp"),
        (#"{"addressName":"a b"}"#, "addressName", "host name"),
        (#"{"stunServer":"stun.example.net"}"#, "stunServer", "host:port"),
        (#"{"name":7}"#, "name", "text"), ("[]", "", "object"),
        (#"{"maxFPS":60,"direct":"yes"}"#, "direct", "true or false"),
    ])
    func refused(_ body: String, _ field: String, _ words: String) throws {
        let json = try JSON.parse(body)
        let refusal = #expect(throws: SettingRefusal.self) { try Settings.patch(json, on: Settings()) }
        #expect(refusal?.field == field)
        #expect(refusal?.message.contains(words) == true)
    }

    @Test(arguments: ["null", #""""#]) func clearing(_ value: String) throws {
        var settings = Settings()
        settings.addressName = "home.example.net"
        settings.stunServer = "a.example:1"
        settings.name = "x"
        let json = try JSON.parse(#"{"addressName":\#(value),"stunServer":\#(value),"name":\#(value)}"#)
        #expect(try Settings.patch(json, on: settings) == Settings())
    }

    @Test func internetCountsOnlyUnderRemoteAccess() {
        var settings = Settings()
        settings.internetAccess = true
        #expect(!settings.effectiveInternet)
        settings.remoteAccess = true
        #expect(settings.effectiveInternet)
    }

    typealias Change = @Sendable (inout Settings) -> Void
    static let changes: [(Change, String)] = [
        ({ $0.away.bitrate = 15_000_000 }, "away bitrate 4 → 15 Mbps per 60 fps"),
        ({ _ in }, "no change"), ({ $0.home.bitrate = 8_500_000 }, "bitrate 15 → 8.5 Mbps per 60 fps"),
        ({ $0.home.captureScale = 1 }, "Retina → points"), ({ $0.name = "Studio" }, "name none → Studio"),
        (
            {
                $0.requirePairing = false
                $0.remoteAccess = true
                $0.maxFPS = 60
                $0.remotePort = 9000
            },
            "frame rate limit 120 → 60, remote access off → on, remote port 7455 → 9000, require pairing on → off"
        ),
    ]

    @Test(arguments: changes.indices)
    func changeLog(_ row: Int) {
        let (change, words) = Self.changes[row]
        var settings = Settings()
        change(&settings)
        #expect(SettingsChangeLog.words(from: Settings(), to: settings) == words)
    }

    /// 06 A2's order, with all of them.
    @Test func changeLogOfEverything() {
        var new = Settings()
        new.maxFPS = 60
        new.home = Quality(bitrate: 8_500_000, captureScale: 1)
        new.away = Quality(bitrate: 12_000_000, captureScale: 2)
        new.direct = true
        new.remoteAccess = true
        new.remotePort = 9000
        new.internetAccess = true
        new.requirePairing = false
        #expect(
            SettingsChangeLog.words(from: Settings(), to: new)
                == "frame rate limit 120 → 60, bitrate 15 → 8.5 Mbps per 60 fps, Retina → points, "
                + "away bitrate 4 → 12 Mbps per 60 fps, away points → Retina, direct wireless off → on, "
                + "remote access off → on, remote port 7455 → 9000, internet access off → on, "
                + "require pairing on → off")
    }

    @Test func changeLogOfTwoAwayValues() {
        var old = Settings()
        old.away.bitrate = 15_000_000
        var new = old
        new.away = Quality(bitrate: 8_000_000, captureScale: 2)
        #expect(
            SettingsChangeLog.words(from: old, to: new)
                == "away bitrate 15 → 8 Mbps per 60 fps, away points → Retina")
    }
}
