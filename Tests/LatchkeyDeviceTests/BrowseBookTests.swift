// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import SystemBus
import Testing
import Wire

@testable import LatchkeyDevice

/// What Avahi says, in whatever order, as rows (02 §7.3, 03 §16).
@Suite("Browsing")
struct BrowseBookTests {
    static let desk = BrowseBook.KnownHost(id: "DESK", recognitionKey: [UInt8](repeating: 0x11, count: 32))
    static let den = BrowseBook.KnownHost(id: "DEN", recognitionKey: [UInt8](repeating: 0x22, count: 32))

    static func tag(_ host: BrowseBook.KnownHost, _ draw: UInt8 = 1) -> String {
        RecognitionTag.text(prefix: [UInt8](repeating: draw, count: 6)) {
            Digest.hmacSHA256(key: host.recognitionKey, message: $0)
        }
    }

    static func service(
        _ name: String = "Desk", on interface: UInt32 = 2, _ family: IPAddress.Family = .v4,
        type: String = "_sill._tcp", domain: String = "local"
    ) -> AvahiService {
        AvahiService(interface: interface, family: family, name: name, type: type, domain: domain)
    }

    static func service(_ family: IPAddress.Family) -> AvahiService { service("Desk", on: 2, family) }

    static func record(port: UInt16 = 7, target: String = "desk.local", _ texts: [String]) -> AvahiRecord {
        record("192.168.1.20", port: port, target: target, texts)
    }

    static func record(
        _ address: String, port: UInt16 = 7, target: String = "desk.local", _ texts: [String]
    ) -> AvahiRecord {
        AvahiRecord(target: target, address: address, port: port, texts: texts.map { Array($0.utf8) })
    }

    static func texts(of host: BrowseBook.KnownHost, _ draw: UInt8 = 1) -> [String] {
        ["r=\(tag(host, draw))", "p=1"]
    }

    /// A book that knows two hosts and three networks, told these.
    static func book(_ events: AvahiEvent...) -> BrowseBook {
        var book = BrowseBook(hosts: [desk, den])
        for event in [.began] + events { tell(event, &book) }
        return book
    }

    static func tell(_ event: AvahiEvent, _ book: inout BrowseBook) {
        book.hear(event)
        for index in book.unknownLinks {
            switch index {
            case 1: book.know(.init(name: "lo", isLoopback: true), at: index)
            case 3: book.know(.init(name: "eth0", isWired: true), at: index)
            case 4: book.know(.init(name: "awdl0", isPeerToPeer: true), at: index)
            default: book.know(.init(name: "wlan\(index)"), at: index)
            }
        }
    }

    static func addresses(_ row: BrowsedRow?) -> [String]? { row?.endpoints.map(\.description) }

    @Test("a saved host by its tag, whatever it is called")
    func byTag() {
        let service = Self.service("Anything")
        let book = Self.book(.listed(service), .found(service, Self.record(Self.texts(of: Self.desk))))
        #expect(book.rows.count == 1)
        let row = book.rows.first
        #expect(row?.row.hostID == "DESK" && row?.row.hasTag == true && row?.row.isTLS == true)
        #expect(row?.row.name == "Anything" && row?.row.isPeerToPeer == false)
        #expect(row?.row.wiredInterface == nil && Self.addresses(row) == ["192.168.1.20:7"])
    }

    struct Texts: Sendable, CustomTestStringConvertible {
        let texts: [String]
        let hostID: String?
        let hasTag: Bool
        let isTLS: Bool
        var testDescription: String { "\(texts)" }
    }

    static let readings: [Texts] = [
        Texts(texts: texts(of: desk), hostID: "DESK", hasTag: true, isTLS: true),
        Texts(texts: texts(of: den, 9), hostID: "DEN", hasTag: true, isTLS: true),
        Texts(texts: ["p=0"], hostID: nil, hasTag: false, isTLS: true),
        Texts(texts: ["p"], hostID: nil, hasTag: false, isTLS: true),
        Texts(texts: [], hostID: nil, hasTag: false, isTLS: false),
        Texts(texts: ["r=\(tag(desk))"], hostID: "DESK", hasTag: true, isTLS: false),
        // Tags that are none, or nobody's.
        Texts(texts: ["r", "p=1"], hostID: nil, hasTag: true, isTLS: true),
        Texts(texts: ["r=", "p=1"], hostID: nil, hasTag: true, isTLS: true),
        Texts(texts: ["r=\(tag(desk))A", "p=1"], hostID: nil, hasTag: true, isTLS: true),
        Texts(texts: ["r=\(tag(desk).dropLast())", "p=1"], hostID: nil, hasTag: true, isTLS: true),
        Texts(texts: ["r=AAAAAAAAAAAAAAAA", "p=1"], hostID: nil, hasTag: true, isTLS: true),
        Texts(texts: ["r= \(tag(desk))", "p=1"], hostID: nil, hasTag: true, isTLS: true),
        Texts(texts: ["r=a b\nc", "p=1"], hostID: nil, hasTag: true, isTLS: true),
        // The first of two counts.
        Texts(texts: ["r=x", "r=\(tag(desk))", "p=1"], hostID: nil, hasTag: true, isTLS: true),
    ]

    @Test("texts", arguments: readings)
    func reads(_ texts: Texts) {
        let service = Self.service()
        let row = Self.book(.listed(service), .found(service, Self.record(texts.texts))).rows.first?.row
        #expect(row?.hostID == texts.hostID && row?.hasTag == texts.hasTag && row?.isTLS == texts.isTLS)
        // Only a row without any tag is anybody's by its name.
        #expect(row?.isOf(hostID: "OTHER", bonjourName: "Desk") == !texts.hasTag)
    }

    @Test(
        "an address that nobody on a network has makes no row",
        arguments: [
            "0.0.0.0", "::", "127.0.0.1", "::1", "224.0.0.251", "255.255.255.255", "ff02::fb", "",
            "desk.local",
            "192.168.1.20%2", "fe80::1%lo", "192.168.1.20:7",
        ])
    func badAddress(_ address: String) {
        let service = Self.service()
        let texts = Self.texts(of: Self.desk)
        let book = Self.book(.listed(service), .found(service, Self.record(address, texts)), .allForNow)
        #expect(book.rows.isEmpty && book.isComplete)
    }

    @Test("port 0, and a machine's name that is none, make no row")
    func badRecord() {
        let (service, texts) = (Self.service(), Self.texts(of: Self.desk))
        for record in [
            Self.record(port: 0, texts), Self.record(target: "", texts), Self.record(target: "a b", texts),
            Self.record(target: String(repeating: "a", count: 2000), texts),
        ] {
            #expect(Self.book(.listed(service), .found(service, record)).rows.isEmpty)
        }
    }

    @Test("loopback is dialled on loopback alone")
    func loopback() {
        let service = Self.service(on: 1)
        let book = Self.book(.listed(service), .found(service, Self.record("127.0.0.1", ["p=1"])))
        #expect(Self.addresses(book.rows.first) == ["127.0.0.1:7"])
    }

    @Test(
        "services that are no home door's are not looked at",
        arguments: [
            service(type: "_ssh._tcp"), service(""), service(String(repeating: "é", count: 32)),
            service(domain: ""), service(domain: "a b"), service(domain: String(repeating: "a", count: 2000)),
        ])
    func notOurs(_ service: AvahiService) {
        let book = Self.book(.listed(service), .found(service, Self.record(["p=1"])))
        #expect(book.wanted.isEmpty && book.rows.isEmpty)
    }

    @Test("the longest name is one")
    func longestName() {
        let service = Self.service(String(repeating: "a", count: 63))
        #expect(Self.book(.listed(service)).wanted == [service])
    }

    // MARK: Grouping

    @Test("one record on several interfaces and by both protocols is one row, the cable's address first")
    func grouped() {
        let texts = Self.texts(of: Self.desk)
        let places: [(AvahiService, String)] = [
            (Self.service(on: 4, .v6), "fe80::4"), (Self.service(on: 2, .v4), "192.168.1.20"),
            (Self.service(on: 2, .v6), "fe80::2"), (Self.service(on: 3, .v6), "fe80::3"),
            (Self.service(on: 3, .v4), "192.168.2.20"), (Self.service(on: 5, .v4), "192.168.1.20"),
            (Self.service(on: 5, .v6), "2001:db8::5"),
        ]
        var book = Self.book()
        // In any order.
        for (service, _) in places { Self.tell(.listed(service), &book) }
        for (service, address) in places.reversed() {
            Self.tell(.found(service, Self.record(address, texts)), &book)
        }
        #expect(book.rows.count == 1)
        let row = book.rows.first
        #expect(row?.row.wiredInterface == "eth0" && row?.row.isPeerToPeer == false)
        #expect(
            Self.addresses(row) == [
                "192.168.2.20:7", "[fe80::3%eth0]:7", "192.168.1.20:7", "[2001:db8::5]:7",
                "[fe80::2%wlan2]:7", "[fe80::4%awdl0]:7",
            ])
        // The cable is pulled: the same row.
        Self.tell(.unlisted(Self.service(on: 3, .v4)), &book)
        Self.tell(.unlisted(Self.service(on: 3, .v6)), &book)
        #expect(book.rows.first?.row.id == row?.row.id && book.rows.first?.row.wiredInterface == nil)
        // Only nearby now.
        for index: UInt32 in [2, 5] {
            for family in [IPAddress.Family.v4, .v6] {
                Self.tell(.unlisted(Self.service(on: index, family)), &book)
            }
        }
        #expect(book.rows.first?.row.id == row?.row.id && book.rows.first?.row.isPeerToPeer == true)
        #expect(Self.addresses(book.rows.first) == ["[fe80::4%awdl0]:7"])
    }

    @Test("a zone belongs to link-local IPv6 alone")
    func zones() {
        let (four, six) = (Self.service(.v4), Self.service(.v6))
        let book = Self.book(
            .listed(four), .found(four, Self.record("169.254.3.4", ["p=1"])),
            .listed(six), .found(six, Self.record("fe80::1", ["p=1"])))
        #expect(Self.addresses(book.rows.first) == ["[fe80::1%wlan2]:7", "169.254.3.4:7"])
        #expect(book.rows.first?.endpoints.first?.scoped == IPAddress("fe80::1%2"))
    }

    struct LookAlike: Sendable, CustomTestStringConvertible {
        let what: String
        let name: String
        let record: AvahiRecord
        let hostID: String?
        var testDescription: String { what }
    }

    static let lookAlikes: [LookAlike] = [
        LookAlike(what: "no tag", name: "Desk", record: record("192.168.9.9", ["p=1"]), hostID: nil),
        LookAlike(
            what: "nobody's tag", name: "Desk", record: record("192.168.9.9", ["r=AAAAAAAAAAAAAAAA", "p=1"]),
            hostID: nil),
        LookAlike(
            what: "another saved host's tag", name: "Desk", record: record("192.168.9.9", texts(of: den)),
            hostID: "DEN"),
        LookAlike(
            what: "an older tag", name: "Desk", record: record("192.168.9.9", texts(of: desk, 2)),
            hostID: "DESK"),
        LookAlike(
            what: "the same tag elsewhere", name: "Desk",
            record: record("192.168.9.9", target: "evil.local", texts(of: desk)), hostID: "DESK"),
        LookAlike(
            what: "the same tag at another port", name: "Desk",
            record: record("192.168.9.9", port: 8, texts(of: desk)), hostID: "DESK"),
        LookAlike(
            what: "the same tag under another name", name: "Desk 2",
            record: record("192.168.9.9", texts(of: desk)), hostID: "DESK"),
    ]

    @Test("a look-alike on another network is a row of its own", arguments: lookAlikes)
    func lookAlike(_ other: LookAlike) {
        let (own, theirs) = (Self.service(on: 2), Self.service(other.name, on: 5))
        let book = Self.book(
            .listed(theirs), .found(theirs, other.record),
            .listed(own), .found(own, Self.record(Self.texts(of: Self.desk))))
        #expect(book.rows.count == 2 && Set(book.rows.map(\.row.id)).count == 2)
        let real = book.rows.first { Self.addresses($0) == ["192.168.1.20:7"] }
        let copy = book.rows.first { $0 != real }
        #expect(real?.row.hostID == "DESK" && copy?.row.hostID == other.hostID)
    }

    @Test("no name makes one row's ID that of another")
    func craftedNames() {
        let (own, crafted) = (Self.service(on: 2), Self.service("_sill._tcp.local Desk", on: 5))
        let texts = Self.texts(of: Self.desk)
        let book = Self.book(
            .listed(own), .found(own, Self.record(texts)),
            .listed(crafted),
            .found(crafted, Self.record("192.168.9.9", ["r=\(Self.tag(Self.desk)) _sill", "p=1"])))
        #expect(Set(book.rows.map(\.row.id)).count == 2)
    }

    @Test("what one place says without TLS makes the row plain")
    func mixedDoors() {
        let (four, six) = (Self.service(.v4), Self.service(.v6))
        let tag = "r=\(Self.tag(Self.desk))"
        let book = Self.book(
            .listed(four), .found(four, Self.record([tag, "p=1"])),
            .listed(six), .found(six, Self.record("fe80::1", [tag])))
        #expect(book.rows.count == 1 && book.rows.first?.row.isTLS == false)
    }

    // MARK: Orders

    struct History: Sendable, CustomTestStringConvertible {
        let what: String
        let events: [AvahiEvent]
        /// Addresses of what is listed at the end.
        let rows: [[String]]
        var testDescription: String { what }
    }

    static let a: AvahiService = service("Desk")
    static let found: AvahiEvent = .found(a, record(texts(of: desk)))
    static let histories: [History] = [
        History(what: "listed, not looked up", events: [.listed(a)], rows: []),
        History(what: "looked up", events: [.listed(a), found], rows: [["192.168.1.20:7"]]),
        History(what: "found before listed", events: [found, .listed(a)], rows: []),
        History(what: "listed twice", events: [.listed(a), found, .listed(a)], rows: [["192.168.1.20:7"]]),
        History(what: "gone", events: [.listed(a), found, .unlisted(a)], rows: []),
        History(
            what: "gone before it came", events: [.unlisted(a), .listed(a), found], rows: [["192.168.1.20:7"]]
        ),
        History(what: "gone while looked up", events: [.listed(a), .unlisted(a), found], rows: []),
        History(what: "gone twice", events: [.listed(a), found, .unlisted(a), .unlisted(a)], rows: []),
        History(what: "cannot be found", events: [.listed(a), .notFound(a)], rows: []),
        History(
            what: "not found, then found", events: [.listed(a), .notFound(a), found],
            rows: [["192.168.1.20:7"]]),
        History(what: "found, then not", events: [.listed(a), found, .notFound(a)], rows: []),
        History(
            what: "another address",
            events: [.listed(a), found, .found(a, record("192.168.1.21", texts(of: desk)))],
            rows: [["192.168.1.21:7"]]),
        History(
            what: "found, then nonsense",
            events: [.listed(a), found, .found(a, record("x", texts(of: desk)))],
            rows: []),
        History(what: "Avahi goes", events: [.listed(a), found, .ended(.noAvahi)], rows: []),
        History(what: "the bus goes", events: [.listed(a), found, .ended(.noBus)], rows: []),
        History(
            what: "late words of one that went", events: [.listed(a), .ended(.noAvahi), found], rows: []),
        History(what: "Avahi is another", events: [.listed(a), found, .began], rows: []),
        History(
            what: "Avahi goes and comes",
            events: [.listed(a), found, .ended(.noAvahi), .began, .listed(a), found],
            rows: [["192.168.1.20:7"]]),
    ]

    @Test("histories", arguments: histories)
    func lives(_ history: History) {
        var book = Self.book()
        var taken: [BrowsedRow] = []
        for event in history.events {
            Self.tell(event, &book)
            if let rows = book.takeRows() {
                #expect(rows != taken)
                taken = rows
            }
        }
        #expect(book.rows.compactMap { Self.addresses($0) } == history.rows)
        // Whoever takes what changed has it all.
        #expect(taken == book.rows)
        #expect(book.takeRows() == nil)
    }

    @Test("complete when all is said and looked at")
    func complete() {
        let b = Self.service("Den")
        var book = Self.book(.listed(Self.a), .listed(b))
        #expect(!book.isComplete)
        Self.tell(Self.found, &book)
        Self.tell(.allForNow, &book)
        #expect(!book.isComplete)
        Self.tell(.notFound(b), &book)
        #expect(book.isComplete)
        Self.tell(.ended(.noAvahi), &book)
        #expect(!book.isComplete)
        Self.tell(.began, &book)
        Self.tell(.allForNow, &book)
        #expect(book.isComplete)
    }

    @Test("a host that is forgotten, or paired meanwhile")
    func savedHosts() {
        let b = Self.service("Den")
        var book = Self.book(
            .listed(Self.a), Self.found, .listed(b),
            .found(b, Self.record("192.168.1.30", Self.texts(of: Self.den))))
        #expect(book.rows.map(\.row.hostID) == ["DESK", "DEN"])
        _ = book.takeRows()
        book.know(hosts: [Self.den])
        #expect(book.takeRows()?.map(\.row.hostID) == ["DEN", nil])
        // A removed host's tag names nobody, and still is a tag.
        #expect(book.rows.last?.row.hasTag == true)
        #expect(book.rows.last?.row.isOf(hostID: "DESK", bonjourName: "Desk") == false)
        book.know(hosts: [Self.den])
        #expect(book.takeRows() == nil)
        book.know(hosts: [Self.den, Self.desk])
        #expect(book.takeRows()?.map(\.row.hostID) == ["DEN", "DESK"])
    }

    @Test("saved hosts in their order, then strangers by name")
    func displayOrder() {
        let names = ["b", "a", "Den", "Desk"]
        var book = Self.book()
        for (index, name) in names.enumerated() {
            let texts =
                name == "Den"
                ? Self.texts(of: Self.den) : name == "Desk" ? Self.texts(of: Self.desk) : ["p=1"]
            Self.tell(.listed(Self.service(name)), &book)
            Self.tell(.found(Self.service(name), Self.record("192.168.1.\(index + 1)", texts)), &book)
        }
        #expect(book.rows.map(\.row.name) == ["Desk", "Den", "a", "b"])
    }

    @Test("an interface is asked about once, and again when its index may be another's")
    func links() {
        var book = BrowseBook()
        book.hear(.listed(Self.service(on: 7)))
        #expect(book.unknownLinks == [7])
        book.know(.init(name: "eth7"), at: 7)
        book.hear(.listed(Self.service("Den", on: 7)))
        #expect(book.unknownLinks.isEmpty)
        book.hear(.unlisted(Self.service(on: 7)))
        book.hear(.unlisted(Self.service("Den", on: 7)))
        book.hear(.listed(Self.service(on: 7)))
        #expect(book.unknownLinks == [7])
    }

    // MARK: A crowd

    static func stranger(_ number: Int) -> AvahiService { service("Stranger \(number)") }

    @Test("a crowd of strangers keeps no saved host from being listed, and nothing grows without end")
    func crowd() {
        var book = Self.book()
        var looked: Set<AvahiService> = []
        /// Looks up whatever is wanted next, as Avahi would.
        func lookUp() {
            #expect(book.wanted.count <= BrowseBook.mostLookUps)
            for service in book.wanted where looked.insert(service).inserted {
                let texts = service.name == "Desk" ? Self.texts(of: Self.desk) : ["p=1"]
                book.hear(.found(service, Self.record(texts)))
            }
        }
        for number in 0..<BrowseBook.mostServices + 100 { book.hear(.listed(Self.stranger(number))) }
        book.hear(.listed(Self.a))
        // There was no room for it while nobody had been looked at: Avahi tells of it again when it is put out again.
        #expect(!book.isComplete)
        for _ in 0..<8 { lookUp() }
        #expect(looked.count == BrowseBook.mostServices)
        #expect(book.rows.count == RowBook.limit)
        book.hear(.listed(Self.a))
        #expect(book.wanted.contains(Self.a))
        lookUp()
        #expect(book.rows.count == RowBook.limit && book.rows.first?.row.hostID == "DESK")
        // More strangers make room for each other, not in its place.
        for number in 5000..<6500 {
            book.hear(.listed(Self.stranger(number)))
            if number.isMultiple(of: 100) { lookUp() }
        }
        lookUp()
        #expect(book.rows.first?.row.hostID == "DESK" && book.wanted.contains(Self.a))
    }

    @Test("a crowd that says a saved host's tag again")
    func replays() {
        var book = Self.book(.listed(Self.a), Self.found)
        func lookUp() {
            for service in book.wanted {
                let texts = service.name == "Den" ? Self.texts(of: Self.den) : Self.texts(of: Self.desk)
                book.hear(.found(service, Self.record(texts)))
            }
        }
        for number in 0..<2 * BrowseBook.mostServices {
            book.hear(.listed(Self.service("A \(number)")))
            if number.isMultiple(of: 100) { lookUp() }
        }
        lookUp()
        // Whoever came first is the first to be dialled.
        #expect(book.rows.count == RowBook.limit && book.rows.first?.row.name == "Desk")
        // Another saved host that comes late is found all the same.
        book.hear(.listed(Self.service("Den")))
        #expect(book.wanted.contains(Self.service("Den")))
        lookUp()
        #expect(book.rows.count == RowBook.limit && book.rows.last?.row.hostID == "DEN")
    }

    @Test("a record too large to be one")
    func hostileTexts() {
        let texts = [[UInt8]](repeating: [UInt8](repeating: 0xFF, count: 255), count: 5000)
        var book = Self.book(.listed(Self.a))
        Self.tell(
            .found(Self.a, AvahiRecord(target: "x", address: "192.168.1.1", port: 1, texts: texts)), &book)
        #expect(book.rows.first?.row.isTLS == false && book.rows.first?.row.hasTag == false)
    }

    // MARK: Changes

    @Test("what leads from one listing to the next")
    func changes() {
        func row(_ id: String, _ name: String = "n") -> BrowsedRow {
            BrowsedRow(row: ListedRow(id: id, name: name, hostID: nil), endpoints: [])
        }
        let changes: [RowChange] = RowChange.between(
            [row("a"), row("b"), row("c")], [row("d"), row("a"), row("b", "m")])
        #expect(changes == [.gone(row("c")), .listed(row("d")), .listed(row("b", "m"))])
        #expect(RowChange.between([row("a"), row("b")], [row("b"), row("a")]).isEmpty)
    }
}
