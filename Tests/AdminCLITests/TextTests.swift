// SPDX-License-Identifier: Apache-2.0

import APITypes
import Foundation
import Testing
import Wire

@testable import AdminCLI

@Suite("What people read")
struct TextTests {
    @Test("devices")
    func devices() throws {
        let devices = try [Fixtures.ipad, Fixtures.phone].map { try Fixtures.read(Device.self, $0) }
        #expect(
            DeviceText.list(devices, now: Fixtures.now, style: .plain) == """
                ID                NAME         MODEL     PAIRED             LAST SEEN                          CONNECTED
                7K3QABCDEFGH2345  Anna's iPad  iPad14,1  3 days ago (qr)    3 minutes ago (through Tailscale)  2 sessions
                7K3QZZZZZZZZ0000  Phone        -         2026-10-01 (code)  never                              -

                """)
        #expect(
            DeviceText.list([], now: Fixtures.now, style: .plain)
                == "No devices yet. Pair one with: latchkey pair\n")
        #expect(
            DeviceText.details(devices[0], now: Fixtures.now, style: .plain) == """
                Name         Anna's iPad
                ID           7K3QABCDEFGH2345
                Model        iPad14,1
                Paired       3 days ago (by QR code)
                Last seen    3 minutes ago (through Tailscale)
                Connected    2 sessions
                Cable        known by its cable
                Fingerprint  ABC123  AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA

                """)
    }

    @Test("status")
    func status() throws {
        let status = try Fixtures.read(Status.self, Fixtures.status)
        #expect(
            StatusText.screen(status, now: Fixtures.now, style: .plain) == """
                Host           Living Room
                ID             HHHHHHHHHHHHHHHH
                Service        latchkeyd 0.1.0, up 3 hours
                Home door      open, port 54021
                Remote door    failed: the port is taken
                Window         open by admin on both doors, closes in 4:05, 5 tries left
                Devices        2 paired
                Sessions       1
                Quality        home
                Desktop        unlocked
                Advertising    on
                Wants to pair  New iPad, on this network, 1 minute ago; unlock this desktop to let it ask
                Notice         a device with an app too old for this host tried to connect; update it

                """)
    }

    @Test("quality")
    func quality() throws {
        var item = try Fixtures.read(QualityItem.self, Fixtures.quality)
        let session = try Fixtures.read(SessionItem.self, Fixtures.session)
        var away = session
        (away.id, away.device, away.route, away.cable) = ("5f2c-2", nil, "through Tailscale", false)
        #expect(
            QualityText.screen(item, sessions: [session, away], style: .plain) == """
                Runs    home, 1 device at home, 2 away
                Home    Balanced · Retina, 15 Mbit/s at 60 fps
                Away    4.5 Mbps · Standard, 4.5 Mbit/s at 60 fps
                Limit   120 fps
                Stream  Balanced · Retina, 120 fps, 30 Mbit/s

                SESSION  DEVICE       SETS           LINK                                                                  WOULD FIT
                5f2c-1   Anna's iPad  the home pair  120 fps · on this network
                5f2c-2   not paired   the away pair  120 fps, the link cannot carry Balanced · Retina · through Tailscale  Low · Standard
                5f2c-3   -            the away pair  nothing gets through

                """)
        (item.running, item.sessions) = (nil, [])
        let text = QualityText.screen(item, sessions: [], style: .plain)
        #expect(text.contains("Stream  stopped\n") && text.hasSuffix("\nNo sessions.\n"))
        #expect(QualityText.status(runs: "away", sessions: 1) == "away")
        #expect(QualityText.status(runs: "away", sessions: 0).hasPrefix("home"))
    }

    @Test("sessions, settings, identity, audit")
    func others() throws {
        let session = try Fixtures.read(SessionItem.self, Fixtures.session)
        #expect(
            SessionText.list([session], now: Fixtures.now, style: .plain) == """
                SESSION  DEVICE       ROUTE            FROM                STARTED     IN     OUT     LINK
                5f2c-1   Anna's iPad  on this network  192.168.1.20:50122  1 hour ago  812 B  1.4 MB  fine

                """)
        #expect(SessionText.list([], now: Fixtures.now, style: .plain).hasPrefix("No sessions."))
        let settings = try Fixtures.read(SettingsBody.self, Fixtures.settings)
        #expect(
            SettingsText.table(settings, style: .plain) == """
                name                    Living Room
                require-pairing         on
                remote-access           off
                remote-port             7455                  held by an option of latchkeyd for this run
                internet-access         off
                address-name            -
                home-bitrate            15000000 (15 Mbit/s)
                home-capture-scale      2
                away-bitrate            4500000 (4.5 Mbit/s)
                away-capture-scale      1
                max-fps                 120
                minimum-device-version  0
                port-mapping            off
                advertise               on
                stun-server             -
                permanent-mappings      off
                ipv6-pinhole            off
                direct                  off

                """)
        let identity = try Fixtures.read(Identity.self, Fixtures.identity)
        #expect(
            IdentityText.details(identity, now: Fixtures.now, style: .plain) == """
                Name         Living Room
                Host ID      HHHHHHHHHHHHHHHH
                Short name   ABC123
                Fingerprint  AAAA
                Public key   BBBB
                Key made     1 day ago
                Key kept in  file

                """)
        let record = try Fixtures.read(AuditItem.self, Fixtures.audit)
        #expect(
            AuditText.list([record], now: Fixtures.now, style: .plain) == """
                WHEN        WHO     WHAT    DEVICE            FROM  OUTCOME  DETAIL
                1 hour ago  unix:0  remove  7K3QABCDEFGH2345  -     done     2 sessions closed

                """)
        #expect(AuditText.list([], now: Fixtures.now, style: .plain) == "Nothing is recorded yet.\n")
    }

    @Test("events")
    func events() throws {
        let rows: [(String, String, String)] = [
            ("device.paired", Fixtures.ipad, "device.paired         Anna's iPad (7K3QABCDEFGH2345)"),
            (
                "session.opened", Fixtures.session,
                "session.opened        5f2c-1  Anna's iPad, on this network"
            ),
            (
                "pairing.closed", #"{"id":"w","outcome":"used","device":"7K3QABCDEFGH2345"}"#,
                "pairing.closed        used by 7K3QABCDEFGH2345"
            ),
            (
                "door.changed", #"{"door":"remote","state":"open","port":7455}"#,
                "door.changed          remote open, port 7455"
            ),
            (
                "identity.rotated", #"{"name":"Den","hostID":"NNNNNNNNNNNNNNNN","removedDevices":1}"#,
                "identity.rotated      Den is NNNNNNNNNNNNNNNN now; 1 device must pair again"
            ),
            ("later.kind", "{}", "later.kind            "),
        ]
        for (type, data, want) in rows {
            let stamped = data.replacing("{", with: #"{"at":"2026-11-30T07:14:13.123Z","#, maxReplacements: 1)
                .replacing(",}", with: "}")
            let event = EventEnvelope(id: 1, type: type, data: try JSON.parse(stamped))
            #expect(EventText.line(event, style: .plain) == "2026-11-30 07:14:13Z  \(want)\n")
        }
    }

    @Test("what a device calls itself cannot steer a terminal")
    func escapes() throws {
        let evil = Fixtures.ipad.replacing("Anna's iPad", with: #"\u001b[2Jx\n\u202ey"#)
        let device = try Fixtures.read(Device.self, evil)
        for text in [
            DeviceText.list([device], now: Fixtures.now, style: .plain),
            DeviceText.details(device, now: Fixtures.now, style: .plain), DeviceText.called(device),
            Failure(.refused, device.name, advice: [device.name]).text,
        ] {
            #expect(!text.contains("\u{1B}"))
            #expect(!text.unicodeScalars.contains("\u{202E}"))
            #expect(text.contains("\u{FFFD}[2Jx\u{FFFD}y"))
        }
    }

    @Test("columns stand under each other whatever the letters' width")
    func widths() {
        var table = Columns()
        table.add([.init("居間"), .init("x")])
        table.add([.init("e\u{301}a"), .init("x")])
        table.add([.init("📱"), .init("x")])
        table.add([.init("a"), .init("")])
        #expect(table.text(.plain) == "居間  x\ne\u{301}a    x\n📱    x\na\n")
    }

    @Test("colour is around the text, never in its width")
    func colour() {
        var table = Columns()
        table.add([.init("a", .good), .init("b")])
        table.add([.init("abc"), .init("b")])
        #expect(table.text(Style(isColoured: true)) == "\u{1B}[32ma\u{1B}[0m    b\nabc  b\n")
    }

    @Test("times in words")
    func times() {
        let rows: [(Int64, String)] = [
            (0, "just now"), (4, "just now"), (5, "5 seconds ago"), (60, "1 minute ago"),
            (3599, "59 minutes ago"),
            (3600, "1 hour ago"), (86400, "1 day ago"), (30 * 86400, "30 days ago"),
            (31 * 86400, "2026-10-30"),
            (-120, "in 2 minutes"),
        ]
        for (seconds, want) in rows {
            let time = WallTime(milliseconds: Fixtures.now.milliseconds - seconds * 1000)
            #expect(TimeText.relative(time, to: Fixtures.now) == want)
        }
        let left: [(Int64, String)] = [
            (300_000, "5:00"), (299_001, "5:00"), (9_000, "0:09"), (1, "0:01"), (-5, "0:00"),
        ]
        for (milliseconds, want) in left { #expect(TimeText.countdown(milliseconds) == want) }
        let amounts: [(UInt64, String)] = [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_450_000, "1.4 MB"),
            (UInt64.max, "18446744.0 TB"),
        ]
        for (bytes, want) in amounts { #expect(TimeText.bytes(bytes) == want) }
    }

    @Test("suggestions")
    func suggestions() {
        let words = CommandTable.commands.map(\.name)
        let rows: [(String, String?)] = [
            ("stauts", "status"), ("lst", "list"), ("remov", "remove"), ("setings", "settings"),
            ("unlok", "unlock"), ("frobnicate", nil), ("x", nil), ("doctor", nil),
        ]
        for (typed, want) in rows { #expect(Suggestion.nearest(to: typed, in: words) == want) }
        #expect(Suggestion.distance("abcd", "acbd") == 1)
        #expect(Suggestion.distance("", "abc") == 3)
    }
}
