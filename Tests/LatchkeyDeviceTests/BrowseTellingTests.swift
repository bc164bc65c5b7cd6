// SPDX-License-Identifier: Apache-2.0

import LatchkeyDevice
import Testing
import Wire

@testable import DeviceCLI

/// What `latchkey-device browse` says, and when it is over.
@Suite("latchkey-device browse")
struct BrowseTellingTests {
    static func row(_ name: String, _ id: String? = nil, host: String? = nil, tls: Bool = true) -> BrowsedRow
    {
        let endpoint = try? Endpoint("192.168.1.20:7")
        return BrowsedRow(
            row: ListedRow(id: id ?? name, name: name, hostID: host, isTLS: tls),
            endpoints: endpoint.map { [$0] } ?? [])
    }

    /// Everything it says to these, and what it ends with.
    static func told(
        _ news: [BrowseNews], until: DeviceCommand.BrowseEnd, json: Bool = false
    ) -> (out: String, complaint: String, end: Int32?) {
        var telling = BrowseTelling(until: until, json: json, names: ["DESK": "Desk"])
        var (out, complaint) = ("", "")
        for item in news where telling.end == nil {
            telling.take(item)
            out += telling.out
            complaint += telling.complaint
        }
        return (out, complaint, telling.end?.rawValue)
    }

    struct End: Sendable, CustomTestStringConvertible {
        let what: String
        let until: DeviceCommand.BrowseEnd
        let news: [BrowseNews]
        let end: Int32?
        var testDescription: String { what }
    }

    static let ends: [End] = [
        End(what: "complete", until: .complete, news: [.status(.searching), .status(.complete)], end: 0),
        End(what: "not yet", until: .complete, news: [.status(.searching), .rows([row("a")])], end: nil),
        End(what: "time", until: .complete, news: [.status(.searching), .time], end: 0),
        End(what: "nobody answered", until: .complete, news: [.time], end: 3),
        End(what: "no Avahi", until: .complete, news: [.status(.noAvahi)], end: 3),
        End(what: "no bus", until: .complete, news: [.status(.noBus("x"))], end: 3),
        End(what: "refused", until: .complete, news: [.status(.failed("x"))], end: 3),
        End(what: "seconds: complete is no end", until: .seconds(9), news: [.status(.complete)], end: nil),
        End(what: "seconds: no Avahi yet", until: .seconds(9), news: [.status(.noAvahi)], end: nil),
        End(what: "seconds: none at all", until: .seconds(9), news: [.status(.noAvahi), .time], end: 3),
        End(
            what: "seconds: it came", until: .seconds(9),
            news: [.status(.noAvahi), .status(.searching), .time], end: 0),
        End(what: "follow", until: .stopped, news: [.status(.noAvahi), .status(.complete)], end: nil),
        End(
            what: "Ctrl-C", until: .stopped, news: [.status(.searching), .stop(ExitCode(rawValue: 130))],
            end: 130),
    ]

    @Test("ends", arguments: ends)
    func isOver(_ end: End) { #expect(Self.told(end.news, until: end.until).end == end.end) }

    @Test("a table at the end, for people")
    func table() {
        let rows = [Self.row("Desk", host: "DESK"), Self.row("Other", tls: false)]
        let told = Self.told([.status(.searching), .rows(rows), .status(.complete)], until: .complete)
        #expect(
            told.out == """
                NAME   HOST         DOOR   ADDRESSES
                Desk   DESK (Desk)  TLS    192.168.1.20:7
                Other  not saved    plain  192.168.1.20:7

                """)
        let empty = Self.told([.status(.searching), .status(.complete)], until: .complete)
        #expect(empty.out == "No host is listed on the networks here.\n" && empty.complaint.isEmpty)
    }

    @Test("lines as they come and go, for people")
    func lines() {
        let told = Self.told(
            [.status(.searching), .rows([Self.row("Desk", host: "DESK")]), .rows([Self.row("Den")])],
            until: .stopped)
        #expect(
            told.out == """
                + Desk  DESK (Desk)  TLS  192.168.1.20:7
                - Desk  DESK (Desk)
                + Den  not saved  TLS  192.168.1.20:7

                """)
    }

    @Test("lines of JSON, also when it ends by itself")
    func json() {
        let told = Self.told(
            [
                .status(.searching), .rows([Self.row("Desk", "1", host: "DESK")]), .rows([]),
                .status(.complete),
            ],
            until: .complete, json: true)
        #expect(
            told.out == """
                {"event":"listed","id":"1","name":"Desk","hostID":"DESK","tls":true,"peerToPeer":false,\
                "addresses":["192.168.1.20:7"]}
                {"event":"gone","id":"1","name":"Desk","hostID":"DESK"}

                """)
    }

    @Test("what is wrong is said once, until it is something else")
    func troubles() {
        let news: [BrowseNews] = [
            .status(.noAvahi), .status(.noAvahi), .status(.noBus("x")), .status(.searching),
            .status(.noAvahi),
        ]
        let told = Self.told(news, until: .stopped, json: true)
        #expect(told.complaint.split(separator: "\n").count == 3)
        let reasons = told.out.split(separator: "\n").compactMap {
            (try? JSON.parse(Array($0.utf8)))?["reason"]?.string
        }
        #expect(reasons == ["noAvahi", "noBus", "noAvahi"])
    }

    /// Escaped, the ID is the same ID to a program, and nothing to a terminal.
    @Test(
        "what a terminal would obey is escaped in JSON",
        arguments: [
            "\u{9B}31m": "\\u009b31m", "\u{7F}": "\\u007f", "\u{202E}": "\\u202e", "\u{2028}": "\\u2028",
            "\u{E0041}": "\\udb40\\udc41", "\u{1B}[2J": "\\u001b[2J", "Zoë 🎉": "Zoë 🎉",
        ])
    func odd(_ name: String, _ escaped: String) throws {
        let told = Self.told([.rows([Self.row(name)])], until: .stopped, json: true)
        #expect(told.out.contains("\"id\":\"\(escaped)\""))
        #expect(try JSON.parse(Array(told.out.utf8))["id"]?.string == name)
    }

    @Test(
        "a name from the network is cleaned",
        arguments: [("a\u{1B}[31m\u{202E}b", "a[31mb"), ("\u{200B}", "(no name)")])
    func names(_ name: String, _ shown: String) {
        let told = Self.told([.status(.searching), .rows([Self.row(name)])], until: .stopped)
        #expect(told.out.hasPrefix("+ \(shown)  "))
    }
}
