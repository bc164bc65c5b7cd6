import CryptoEngine
import Testing
import Wire

@testable import LatchkeyDevice

@Suite("Saved hosts")
struct SavedHostListTests {
    static func host(_ byte: UInt8, pairedAt: Double = 1) -> SavedHost {
        let fingerprint = Base64URL.encode([UInt8](repeating: byte, count: 32))
        let host = SavedHost(
            fingerprint: fingerprint, name: "Host \(byte)", recognitionKey: [UInt8](repeating: 2, count: 32),
            remotePort: 7455, addresses: [], pairedAt: pairedAt, method: "qr")
        guard let host else { preconditionFailure("32 bytes are a fingerprint") }
        return host
    }

    @Test("what is written reads back")
    func roundTrip() {
        var list = SavedHostList()
        var host = Self.host(1)
        host.addresses = [SavedAddress(host: "a.example", port: 17455, kind: "internet", via: "Router")]
        host.typedAddresses = [SavedAddress(host: "10.0.0.1", port: nil, kind: "lan", via: "")]
        host.lastWorked = "a.example|17455"
        host.lastConnectedAt = 12.5
        host.lastRoute = "over the internet"
        host.bonjourName = "Desk"
        host.revoked = true
        host.homeTLS = true
        host.infoIssuedAt = 99.5
        list.add(host)
        list.add(Self.host(2))
        #expect(SavedHostList(stored: list.encode()) == list)
    }

    @Test(
        "damaged storage reads as empty", arguments: ["", "{", "[]", #"{"hosts":{}}"#, #"{"hosts":[1,{}]}"#])
    func damaged(_ text: String) { #expect(SavedHostList(stored: Array(text.utf8)).hosts.isEmpty) }

    @Test("a record whose ID does not follow from its fingerprint is dropped")
    func wrongID() {
        var list = SavedHostList()
        list.add(Self.host(1))
        list.add(Self.host(2))
        let text = String(decoding: list.encode(), as: UTF8.self)
            .replacing("\"macID\":\"\(Self.host(1).id)\"", with: "\"macID\":\"\(Self.host(3).id)\"")
        #expect(SavedHostList(stored: Array(text.utf8)).hosts.map(\.id) == [Self.host(2).id])
    }

    @Test("the seventeenth takes the place of the one used longest ago")
    func limit() {
        var list = SavedHostList()
        for number in 0..<16 { list.add(Self.host(UInt8(number), pairedAt: Double(100 + number))) }
        list.noteConnected(Self.host(0).id, remoteAddress: nil, at: 500, route: "on this network")
        list.add(Self.host(99, pairedAt: 300))
        #expect(list.hosts.count == 16)
        #expect(list.host(Self.host(0).id) != nil)
        #expect(list.host(Self.host(1).id) == nil)
        #expect(list.host(Self.host(99).id) != nil)
    }

    @Test("pairing again replaces, keeps what was learnt about the door, clears revoked")
    func again() {
        var list = SavedHostList()
        var old = Self.host(1)
        old.homeTLS = true
        old.revoked = true
        list.add(old)
        list.add(Self.host(1, pairedAt: 7))
        #expect(list.hosts.count == 1)
        #expect(list.hosts[0].homeTLS)
        #expect(!list.hosts[0].revoked)
        #expect(list.hosts[0].pairedAt == 7)
    }

    static let said: [(HostAddress, SavedAddress?)] = [
        (
            HostAddress(host: "a.example", port: 1, kind: "vpn", via: "X"),
            SavedAddress(host: "a.example", port: 1, kind: "vpn", via: "X")
        ),
        (
            HostAddress(host: "fd00::1", kind: "lan", via: ""),
            SavedAddress(host: "fd00::1", port: nil, kind: "lan", via: "")
        ),
        (
            HostAddress(host: "a.example", kind: "\u{1B}[2J", via: "\u{1B}[31mred\u{202E}"),
            SavedAddress(host: "a.example", port: nil, kind: "internet", via: "[31mred")
        ),
        (
            HostAddress(host: "a.example", kind: "lan", via: "e" + String(repeating: "\u{301}", count: 9999)),
            SavedAddress(host: "a.example", port: nil, kind: "lan", via: "")
        ),
        (HostAddress(host: "a\u{1B}[2Jb", kind: "lan", via: ""), nil),
        (HostAddress(host: "a.example:1", kind: "lan", via: ""), nil),
        (HostAddress(host: String(repeating: "a.", count: 500_000) + "b", kind: "lan", via: ""), nil),
        (HostAddress(host: "a.example", port: 0, kind: "lan", via: ""), nil),
        (HostAddress(host: "a.example", port: 65536, kind: "lan", via: ""), nil),
    ]

    @Test("of what a host says of its addresses is kept what can be dialled and shown", arguments: said)
    func addresses(_ said: HostAddress, _ want: SavedAddress?) { #expect(SavedAddress(said) == want) }

    @Test("a name of any number of bytes is none")
    func longName() throws {
        var list = SavedHostList()
        list.add(Self.host(1))
        let host = list.hosts[0]
        let info = HostInfo(
            macID: host.id, name: "e" + String(repeating: "\u{301}", count: 500_000), issuedAt: 10,
            remoteAccess: true, remotePort: 7455, internet: false, addresses: [])
        let signer = try #require(host.pin)
        let isTaken = list.apply(VerifiedHostInfo(info: info, signer: signer), keepLoopback: false)
        #expect(isTaken)
        #expect(list.hosts[0].name == host.name)
    }

    struct Update: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var issuedAt = 10.0
        var remoteAccess = true
        var port = 17455
        var name = "New"
        var addresses = ["192.168.1.20"]
        var signer: UInt8 = 1
        let isTaken: Bool
        var want: [String] = ["192.168.1.20"]
    }

    static let updates = [
        Update(testDescription: "newer", isTaken: true),
        Update(testDescription: "the same age", issuedAt: 5, isTaken: false, want: ["old.example"]),
        Update(testDescription: "older", issuedAt: 4, isTaken: false, want: ["old.example"]),
        Update(testDescription: "not a number", issuedAt: .nan, isTaken: false, want: ["old.example"]),
        Update(
            testDescription: "remote access off", remoteAccess: false, isTaken: true, want: ["old.example"]),
        Update(testDescription: "an empty list", addresses: [], isTaken: true, want: ["old.example"]),
        Update(
            testDescription: "nothing keepable",
            addresses: ["fe80::1", "169.254.1.1", "a%b", "127.0.0.1", "localhost"],
            isTaken: true, want: ["old.example"]),
        Update(
            testDescription: "some keepable", addresses: ["::1", "fd00::1"], isTaken: true, want: ["fd00::1"]),
        Update(testDescription: "another signer", signer: 2, isTaken: false, want: ["old.example"]),
    ]

    @Test("update", arguments: updates)
    func update(_ row: Update) throws {
        var list = SavedHostList()
        var host = Self.host(1)
        host.infoIssuedAt = 5
        host.addresses = [SavedAddress(host: "old.example", port: nil, kind: "internet", via: "")]
        host.typedAddresses = [SavedAddress(host: "typed.example", port: nil, kind: "internet", via: "")]
        list.add(host)
        let signer = try #require(Self.host(row.signer).pin)
        let info = HostInfo(
            macID: signer.id.text, name: row.name, issuedAt: row.issuedAt, remoteAccess: row.remoteAccess,
            remotePort: row.port, internet: false,
            addresses: row.addresses.map { HostAddress(host: $0, kind: "lan", via: "") })
        #expect(list.apply(VerifiedHostInfo(info: info, signer: signer), keepLoopback: false) == row.isTaken)
        #expect(list.hosts[0].addresses.map(\.host) == row.want)
        #expect(list.hosts[0].typedAddresses.map(\.host) == ["typed.example"])
        #expect(list.hosts[0].name == (row.isTaken ? "New" : "Host 1"))
        #expect(list.hosts[0].remotePort == (row.isTaken ? 17455 : 7455))
    }

    @Test("the example of 06 B2")
    func dialOrder() throws {
        var host = Self.host(1)
        let all: [(String, Int?, String)] = [
            ("192.168.1.20", nil, "lan"), ("mac-mini.tail1234.ts.net", nil, "vpn"),
            ("100.101.102.103", nil, "vpn"),
            ("100.101.102.103", nil, "vpn"), ("fd7a:115c:a1e0::1234", nil, "vpn"), ("10.0.5.9", nil, "lan"),
            ("home.example.net", 17455, "internet"), ("203.0.113.9", nil, "internet"),
            ("2001:db8::20", nil, "internet"),
        ]
        host.addresses = all.map { SavedAddress(host: $0.0, port: $0.1, kind: $0.2, via: "") }
        let subnet = DialOrder.Subnet(prefix: try #require(IPAddress("192.168.1.0")), bits: 24)
        let order = DialOrder.addresses(of: host, subnets: [subnet]).map(\.host)
        #expect(
            order == [
                "mac-mini.tail1234.ts.net", "100.101.102.103", "fd7a:115c:a1e0::1234", "192.168.1.20",
                "home.example.net",
                "203.0.113.9", "2001:db8::20", "10.0.5.9",
            ])
        host.lastWorked = "HOME.example.net|17455"
        #expect(DialOrder.addresses(of: host, subnets: [subnet]).first?.host == "home.example.net")
        // A Tailscale address is one whatever kind it was given.
        host.addresses = [
            SavedAddress(host: "192.168.1.20", port: nil, kind: "lan", via: ""),
            SavedAddress(host: "100.64.0.5", port: nil, kind: "lan", via: ""),
        ]
        #expect(
            DialOrder.addresses(of: host, subnets: [subnet]).map(\.host) == ["100.64.0.5", "192.168.1.20"])
    }

    @Test("a typed address with another port than the remote door's is taken for the home door")
    func typedDoor() throws {
        var host = Self.host(1)
        host.addresses = [
            SavedAddress(host: "a.example", port: 17455, kind: "internet", via: "Router"),
            SavedAddress(host: "100.64.1.1", port: nil, kind: "vpn", via: "Tailscale"),
        ]
        host.typedAddresses = [
            SavedAddress(host: "192.168.1.9", port: 41000, kind: "lan", via: ""),
            SavedAddress(host: "10.0.0.1", port: nil, kind: "lan", via: ""),
        ]
        func candidate(_ index: Int, typed: Bool) throws -> DialCandidate {
            try DialCandidate((typed ? host.typedAddresses : host.addresses)[index], of: host)
        }
        #expect(try candidate(0, typed: true).door == .home)
        #expect(try !candidate(0, typed: true).isSaved)
        #expect(try candidate(1, typed: true).door == .remote)
        #expect(try candidate(0, typed: false).door == .remote)
        #expect(try candidate(0, typed: false).route == "over the internet")
        #expect(try candidate(1, typed: false).route == "through Tailscale")
        #expect(try candidate(1, typed: false).endpoint.description == "100.64.1.1:7455")
        host.addresses[0] = SavedAddress(host: "2001:db8::1", port: nil, kind: "internet", via: "IPv6")
        #expect(try candidate(0, typed: false).endpoint.description == "[2001:db8::1]:7455")
    }

    static let kinds: [(String, String)] = [
        ("100.64.0.1", "vpn"), ("fd7a:115c:a1e0::1", "vpn"), ("a.ts.net", "vpn"), ("a.ts.net.", "vpn"),
        ("10.1.1.1", "lan"),
        ("172.16.0.1", "lan"), ("172.32.0.1", "internet"), ("192.168.0.1", "lan"), ("169.254.0.1", "lan"),
        ("127.0.0.1", "lan"), ("fd00::1", "lan"), ("fc00::1", "lan"), ("fe80::1", "lan"), ("::1", "lan"),
        ("2001:db8::1", "internet"), ("mac.local", "lan"), ("localhost", "lan"), ("example.net", "internet"),
        ("8.8.8.8", "internet"),
    ]

    @Test("the kind of an address without one", arguments: kinds)
    func kind(_ host: String, _ want: String) { #expect(SavedAddress.kind(ofHost: host) == want) }

    static let keepable: [(String, Bool, Bool)] = [
        ("", false, false), ("fe80::1%eth0", false, false), ("169.254.9.9", false, false),
        ("fe80::1", false, false),
        ("febf::1", false, false), ("127.0.0.1", false, true), ("::1", false, true),
        ("localhost", false, true),
        ("10.0.0.1", true, true), ("a.example", true, true), ("fec0::1", true, true),
    ]

    @Test("what may be kept", arguments: keepable)
    func keeps(_ host: String, _ want: Bool, _ wantOnOneMachine: Bool) {
        #expect(SavedAddress.isKeepable(host, keepLoopback: false) == want)
        #expect(SavedAddress.isKeepable(host, keepLoopback: true) == wantOnOneMachine)
    }
}
