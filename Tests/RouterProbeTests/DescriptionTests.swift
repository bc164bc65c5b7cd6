// SPDX-License-Identifier: Apache-2.0

import HTTPFetch
import Policy
import Testing
import Wire

@testable import RouterProbe

@Suite("Descriptions and answers of an IGD")
struct DescriptionTests {
    private static func origin() throws -> WebLocation {
        try #require(WebLocation("http://192.168.1.1:5000/rootDesc.xml"))
    }

    private func read(_ text: String) throws -> GatewayDescription? {
        GatewayDescription(Array(text.utf8), from: try Self.origin())
    }

    @Test("a usual router")
    func usual() throws {
        let found = try #require(
            try read(
                Descriptions.igd(services: [
                    Descriptions.service(Descriptions.connection, "/ctl/IPConn"), Descriptions.firewall,
                ])))
        #expect(found.connections.map(\.place.text) == ["http://192.168.1.1:5000/ctl/IPConn"])
        #expect(found.connections.map(\.service) == [Descriptions.connection])
        #expect(found.firewall?.place.text == "http://192.168.1.1:5000/ctl/IP6FCtl")
        #expect(found.name == "A router")
    }

    @Test(
        "ways to write the control URL",
        arguments: [
            ("/ctl", nil, "http://192.168.1.1:5000/ctl"), ("ctl", nil, "http://192.168.1.1:5000/ctl"),
            ("http://192.168.1.1:49152/ctl", nil, "http://192.168.1.1:49152/ctl"),
            ("/ctl", "http://192.168.1.1:1900", "http://192.168.1.1:1900/ctl"),
            ("/ctl", "http://192.168.1.1:1900/", "http://192.168.1.1:1900/ctl"),
            ("/ctl", "", "http://192.168.1.1:5000/ctl"),
            ("http://192.168.1.1:49152/ctl", "http://10.9.9.9/", "http://192.168.1.1:49152/ctl"),
            ("HTTP://192.168.1.1:49152/ctl", nil, "http://192.168.1.1:49152/ctl"),
            // No scheme: what is before the colon is no word of its own.
            ("ctl?to=urn:x", nil, "http://192.168.1.1:5000/ctl?to=urn:x"),
            ("/a:b", nil, "http://192.168.1.1:5000/a:b"), ("1:b", nil, "http://192.168.1.1:5000/1:b"),
        ] as [(String, String?, String)])
    func control(_ url: String, _ base: String?, _ expected: String) throws {
        let text = Descriptions.igd(
            base: base, services: [Descriptions.service(Descriptions.connection, url)])
        #expect(try read(text)?.connections.map(\.place.text) == [expected])
    }

    @Test(
        "a control URL elsewhere counts as missing",
        arguments: [
            ("http://192.168.1.2/ctl", nil), ("/ctl", "http://192.168.0.1:5000/"),
            ("/ctl", "http://router.example/"),
            ("http://192.168.1.1@10.0.0.1/", nil), ("https://192.168.1.1/ctl", nil),
            ("https://192.168.1.1:5000/ctl", nil), ("HTTPS://192.168.1.1/ctl", nil),
            ("https://192.168.1.1/ctl", "http://192.168.1.1:5000/"), ("ftp://192.168.1.1/ctl", nil),
            ("file:///ctl", nil), ("unix:/run/ctl", nil), ("x-1.2+z:ctl", nil), ("http:/ctl", nil),
            ("/ctl", "https://192.168.1.1:5000/"), ("https://10.0.0.1/ctl", nil),
        ] as [(String, String?)])
    func elsewhere(_ url: String, _ base: String?) throws {
        #expect(
            try read(
                Descriptions.igd(base: base, services: [Descriptions.service(Descriptions.connection, url)]))
                == nil)
    }

    @Test("a firewall whose control URL is of another scheme is none", arguments: ["https", "ftp", "HTTPS"])
    func foreignFirewall(_ scheme: String) throws {
        let found = try read(
            Descriptions.igd(services: [
                Descriptions.service(Descriptions.ppp, "\(scheme)://192.168.1.1/ppp"),
                Descriptions.service(Descriptions.connection, "/ip"),
                Descriptions.service(
                    "urn:schemas-upnp-org:service:WANIPv6FirewallControl:1", "\(scheme)://192.168.1.1/6"),
            ]))
        #expect(found?.connections.map(\.place.target) == ["/ip"])
        #expect(found?.firewall == nil)
    }

    @Test("several connections: the first two count, and a foreign one is passed over")
    func several() throws {
        let two = try read(
            Descriptions.igd(services: [
                Descriptions.service(Descriptions.ppp, "/ctl/ppp"),
                Descriptions.service(Descriptions.connection, "/ctl/ip"),
            ]))
        #expect(two?.connections.map(\.service) == [Descriptions.ppp, Descriptions.connection])
        #expect(two?.connections.map(\.place.target) == ["/ctl/ppp", "/ctl/ip"])
        let foreign = try read(
            Descriptions.igd(services: [
                Descriptions.service(Descriptions.ppp, "http://10.0.0.1/ctl"),
                Descriptions.service(Descriptions.connection, "/ctl/ip"),
            ]))
        #expect(foreign?.connections.map(\.place.target) == ["/ctl/ip"])
    }

    @Test("later versions of the services, and one line")
    func versions() throws {
        let text = Descriptions.igd(
            common: "urn:schemas-upnp-org:service:WANCommonInterfaceConfig:2",
            services: [Descriptions.service("urn:schemas-upnp-org:service:WANIPConnection:2", "/c")],
            lines: "")
        #expect(try read(text)?.connections.first?.service.hasSuffix(":2") == true)
    }

    @Test(
        "what is no IGD",
        arguments: [
            "", "<", "no xml at all", Descriptions.mediaServer, "<html><body>404</body></html>",
            Descriptions.igd(services: []), Descriptions.igd(common: "urn:other:service:x:1"),
            Descriptions.igd(services: [
                Descriptions.service("urn:schemas-upnp-org:service:WANIPConnectionX", "/c")
            ]),
            Descriptions.igd(services: [
                Descriptions.service("urn:dslforum-org:service:WANIPConnection:1", "/c")
            ]),
            Descriptions.igd(services: [
                Descriptions.service("urn:schemas-upnp-org:service:WANIPConnection:1\"><evil/>", "/c")
            ]),
            String(Descriptions.igd().prefix(400)),
        ])
    func others(_ text: String) throws { #expect(try read(text) == nil) }

    @Test("a megabyte is read, should anybody hand it over")
    func large() throws {
        let filler = "<!-- " + String(repeating: "x", count: 1 << 20) + " -->"
        _ = try read(Descriptions.igd(name: filler))
        _ = try read(String(repeating: "<a>", count: 300_000))
        _ = try read(Descriptions.igd() + filler)
    }

    @Test(
        "names are cleaned",
        arguments: [
            ("Tom &amp; Ann&apos;s &lt;box&gt;", "Tom & Ann's <box>"), (" a\u{202E}b\u{7}\n c ", "ab c"),
            (String(repeating: "n", count: 300), String(repeating: "n", count: 64)), ("", nil),
        ] as [(String, String?)])
    func names(_ text: String, _ expected: String?) throws {
        #expect(try read(Descriptions.igd(name: text))?.name == expected)
    }

    @Test("no description breaks it, and none leads elsewhere")
    func hostile() throws {
        let sound = [
            Descriptions.igd(),
            Descriptions.igd(
                base: "http://192.168.1.1/",
                services: [
                    Descriptions.service(Descriptions.ppp, "http://192.168.1.1:1/c"),
                    Descriptions.service(Descriptions.connection, "/c"), Descriptions.firewall,
                ]), Descriptions.mediaServer,
        ].map { Array($0.utf8) }
        for bytes in broken(sound, count: 3000, seed: 2) {
            let found = GatewayDescription(bytes, from: try Self.origin())
            let places = (found?.connections ?? []) + [found?.firewall].compactMap { $0 }
            #expect(places.allSatisfy { $0.place.address.ip == ip("192.168.1.1") })
        }
    }

    // MARK: SOAP

    private func reply(_ text: String, status: Int = 200) -> SOAPReply {
        SOAPReply(status: status, body: Array(text.utf8))
    }

    @Test("a call as it goes out")
    func call() throws {
        let point = ControlPoint(
            service: Descriptions.connection, place: try #require(WebLocation("http://192.168.1.1:5000/ctl")))
        let request = IGDReading.mappingCall(outsidePort: 7455).request(to: point)
        #expect(request.method == "POST")
        #expect(request.target == "/ctl")
        #expect(request.host == "192.168.1.1:5000")
        #expect(
            request.fields.contains {
                $0 == ("SOAPAction", "\"\(Descriptions.connection)#GetSpecificPortMappingEntry\"")
            })
        let body = String(decoding: request.body, as: UTF8.self)
        #expect(
            body.contains(
                "<u:GetSpecificPortMappingEntry xmlns:u=\"\(Descriptions.connection)\"><NewRemoteHost></NewRemoteHost>"
                    + "<NewExternalPort>7455</NewExternalPort><NewProtocol>TCP</NewProtocol>"
                    + "</u:GetSpecificPortMappingEntry>"))
    }

    @Test(
        "status",
        arguments: [
            ("Connected", .connected), ("Up", .connected), ("Disconnected", .disconnected),
            ("Connecting", .disconnected),
            ("Unconfigured", .disconnected), ("", .disconnected), ("connected", .disconnected),
        ] as [(String, IGDEvidence.Status)])
    func status(_ word: String, _ expected: IGDEvidence.Status) {
        #expect(
            IGDReading.status(reply(Replies.values("GetStatusInfo", [("NewConnectionStatus", word)])))
                == expected)
        #expect(IGDReading.status(reply(Replies.error(501), status: 500)) == .unknown)
        #expect(IGDReading.status(.silent) == .unknown)
    }

    @Test(
        "addresses",
        arguments: [
            ("11.22.33.44", .address(ip("11.22.33.44"))), (" 100.64.3.4\n", .address(ip("100.64.3.4"))),
            ("192.168.0.2", .address(ip("192.168.0.2"))), ("", .withheld), ("0.0.0.0", .withheld),
            ("(null)", .withheld),
            ("2001:db8::1", .withheld), ("11.22.33.444", .withheld), ("router.example", .withheld),
        ] as [(String, IGDEvidence.Address)])
    func address(_ text: String, _ expected: IGDEvidence.Address) {
        let body = Replies.values("GetExternalIPAddress", [("NewExternalIPAddress", text)])
        #expect(IGDReading.address(reply(body)) == expected)
        #expect(IGDReading.address(reply(Replies.error(501), status: 500)) == .withheld)
        #expect(IGDReading.address(reply("<html>no</html>", status: 404)) == .withheld)
        #expect(IGDReading.address(.silent) == .unknown)
    }

    @Test("mappings")
    func mappings() {
        let mine = MappingEntry(
            client: ip("192.168.1.5"), port: 7455, isEnabled: true, description: "Latchkey", lease: 3599)
        #expect(IGDReading.mapping(reply(Replies.entry)) == .entry(mine))
        #expect(IGDReading.mapping(reply(Replies.error(714), status: 500)) == .none)
        // Some send the error with 200.
        #expect(IGDReading.mapping(reply(Replies.error(714))) == .none)
        #expect(IGDReading.mapping(reply(Replies.error(402), status: 500)) == .unreadable)
        #expect(IGDReading.mapping(reply("", status: 500)) == .unreadable)
        #expect(IGDReading.mapping(reply("<garbage")) == .unreadable)
        #expect(IGDReading.mapping(.silent) == .unreadable)
        let shy = Replies.values(
            "X", [("NewInternalPort", " 80 "), ("NewInternalClient", "10.0.0.9"), ("NewEnabled", "false")])
        #expect(
            IGDReading.mapping(reply(shy))
                == .entry(
                    MappingEntry(
                        client: ip("10.0.0.9"), port: 80, isEnabled: false, description: "", lease: 0)))
        for values in [
            [("NewInternalPort", "0"), ("NewInternalClient", "10.0.0.9")],
            [("NewInternalPort", "65536"), ("NewInternalClient", "10.0.0.9")],
            [("NewInternalPort", "80"), ("NewInternalClient", "nas")], [("NewInternalClient", "10.0.0.9")],
        ] {
            #expect(IGDReading.mapping(reply(Replies.values("X", values))) == .unreadable)
        }
    }

    @Test("an entry's words are cleaned")
    func words() {
        let body = Replies.values(
            "X",
            [
                ("NewInternalPort", "80"), ("NewInternalClient", "10.0.0.9"),
                ("NewPortMappingDescription", "a\u{1B}[31m\u{202E}b"), ("NewLeaseDuration", "-5"),
            ])
        guard case .entry(let entry) = IGDReading.mapping(reply(body)) else { return #expect(Bool(false)) }
        #expect(entry.description == "a[31mb")
        #expect(entry.lease == 0)
    }

    @Test(
        "the IPv6 firewall",
        arguments: [
            ("1", "1", IPv6Firewall(isOn: true, allowsPinholes: true)),
            ("0", "0", IPv6Firewall(isOn: false, allowsPinholes: false)),
            ("true", "no", IPv6Firewall(isOn: true, allowsPinholes: false)),
        ])
    func firewall(_ isOn: String, _ allows: String, _ expected: IPv6Firewall) {
        let body = Replies.values(
            "GetFirewallStatus", [("FirewallEnabled", isOn), ("InboundPinholeAllowed", allows)])
        #expect(IGDReading.firewall(reply(body)) == expected)
        #expect(IGDReading.firewall(reply(Replies.error(401), status: 500)) == nil)
    }

    @Test("no answer breaks it")
    func hostileReplies() {
        let sound = [
            Replies.entry, Replies.error(714), Replies.values("G", [("NewExternalIPAddress", "1.2.3.4")]),
        ]
        .map { Array($0.utf8) }
        for bytes in broken(sound, count: 4000, seed: 3) {
            let read = SOAPReply(status: 200, body: bytes)
            _ = (
                IGDReading.mapping(read), IGDReading.address(read), IGDReading.status(read),
                IGDReading.type(read)
            )
        }
    }
}
