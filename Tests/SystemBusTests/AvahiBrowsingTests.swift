// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import SystemBus

/// What of a search is at Avahi, call by call and signal by signal.
struct AvahiBrowsingTests {
    static let desk = AvahiService(
        interface: 2, family: .v4, name: "Desk", type: "_sill._tcp", domain: "local")
    static let den = AvahiService(
        interface: 3, family: .v6, name: "Den", type: "_sill._tcp", domain: "local")

    static func signal(_ path: String, _ interface: String, _ member: String, _ values: [BusValue] = [])
        -> BusSignal
    {
        BusSignal(sender: ":1.1", path: path, interface: interface, member: member, arguments: values)
    }

    static func head(_ service: AvahiService) -> [BusValue] {
        [
            .int32(Int32(service.interface)), .int32(service.family == .v4 ? 0 : 1), .string(service.name),
            .string(service.type), .string(service.domain),
        ]
    }

    static func item(_ member: String, _ service: AvahiService, at path: String = "/b") -> BusSignal {
        signal(path, AvahiWords.browser, member, head(service) + [.uint32(0)])
    }

    static func found(_ service: AvahiService, at path: String, address: String = "192.168.1.20") -> BusSignal
    {
        signal(
            path, AvahiWords.resolver, "Found",
            head(service) + [
                .string("desk.local"), .int32(0), .string(address), .uint16(7),
                .byteArrays([Array("p=1".utf8)]),
                .uint32(0),
            ])
    }

    static let record = AvahiRecord(
        target: "desk.local", address: "192.168.1.20", port: 7, texts: [Array("p=1".utf8)])

    /// One whose browser is at `/b`.
    static func begun() -> AvahiBrowsing {
        var browsing = AvahiBrowsing()
        browsing.arrived()
        #expect(browsing.takeNext() == .browse)
        #expect(browsing.answered(.success("/b")) == [.began])
        return browsing
    }

    static func refusal(_ why: String = "no") -> BusError { BusError(.refused, why) }

    @Test func nothingIsAskedWithoutAvahi() {
        var browsing = AvahiBrowsing()
        browsing.want([Self.desk])
        #expect(browsing.takeNext() == nil && !browsing.hasFailed)
        browsing.arrived()
        browsing.gone()
        #expect(browsing.takeNext() == nil)
    }

    @Test func oneCallAtATime() {
        var browsing = Self.begun()
        browsing.want([Self.desk, Self.den])
        #expect(browsing.takeNext() == .resolve(Self.desk))
        #expect(browsing.takeNext() == nil)
        #expect(browsing.answered(.success("/1")) == [])
        #expect(browsing.takeNext() == .resolve(Self.den))
        #expect(browsing.answered(.success("/2")) == [])
        #expect(browsing.takeNext() == nil && browsing.isSettled)
    }

    @Test func whatAvahiSays() {
        var browsing = Self.begun()
        #expect(browsing.heard(Self.item("ItemNew", Self.desk)) == [.listed(Self.desk)])
        browsing.want([Self.desk])
        _ = browsing.takeNext()
        _ = browsing.answered(.success("/1"))
        #expect(browsing.heard(Self.found(Self.desk, at: "/1")) == [.found(Self.desk, Self.record)])
        #expect(
            browsing.heard(Self.signal("/1", AvahiWords.resolver, "Failure", [.string("x")])) == [
                .notFound(Self.desk)
            ])
        #expect(browsing.heard(Self.signal("/b", AvahiWords.browser, "AllForNow")) == [.allForNow])
        #expect(browsing.heard(Self.signal("/b", AvahiWords.browser, "CacheExhausted")) == [])
        #expect(browsing.heard(Self.item("ItemRemove", Self.desk)) == [.unlisted(Self.desk)])
    }

    /// What a resolver says belongs to the service that it was made for, whatever it writes there.
    @Test func aResolverSpeaksForItsOwn() {
        var browsing = Self.begun()
        browsing.want([Self.desk])
        _ = browsing.takeNext()
        _ = browsing.answered(.success("/1"))
        #expect(browsing.heard(Self.found(Self.den, at: "/1")) == [.found(Self.desk, Self.record)])
        #expect(browsing.heard(Self.found(Self.desk, at: "/2")) == [])
        #expect(browsing.heard(Self.item("ItemNew", Self.desk, at: "/other")) == [])
        // An object's signals have its interface.
        #expect(browsing.heard(Self.signal("/1", AvahiWords.browser, "AllForNow")) == [])
    }

    @Test func signalsBeforeTheAnswer() {
        var browsing = AvahiBrowsing()
        browsing.arrived()
        _ = browsing.takeNext()
        #expect(browsing.heard(Self.item("ItemNew", Self.desk)) == [])
        #expect(browsing.heard(Self.item("ItemNew", Self.den, at: "/old")) == [])
        #expect(browsing.heard(Self.signal("/b", AvahiWords.browser, "AllForNow")) == [])
        #expect(browsing.answered(.success("/b")) == [.began, .listed(Self.desk), .allForNow])
        browsing.want([Self.desk])
        _ = browsing.takeNext()
        #expect(browsing.heard(Self.found(Self.desk, at: "/1")) == [])
        #expect(browsing.heard(Self.item("ItemNew", Self.den)) == [.listed(Self.den)])
        #expect(browsing.answered(.success("/1")) == [.found(Self.desk, Self.record)])
        // They are told once.
        browsing.want([Self.desk, Self.den])
        _ = browsing.takeNext()
        #expect(browsing.answered(.success("/2")) == [])
    }

    @Test func onlySoManyAreKept() {
        var browsing = AvahiBrowsing()
        browsing.arrived()
        _ = browsing.takeNext()
        for _ in 0..<AvahiBrowsing.mostEarly + 5 { _ = browsing.heard(Self.item("ItemNew", Self.desk)) }
        #expect(browsing.answered(.success("/b")).count == 1 + AvahiBrowsing.mostEarly)
    }

    @Test func whatIsWantedNoMoreIsFreed() {
        var browsing = Self.begun()
        browsing.want([Self.desk])
        _ = browsing.takeNext()
        _ = browsing.answered(.success("/1"))
        browsing.want([])
        #expect(browsing.heard(Self.found(Self.desk, at: "/1")) == [])
        #expect(browsing.takeNext() == .freeResolver("/1"))
        // It may be gone there, too.
        #expect(browsing.answered(.failure(Self.refusal())) == [])
        #expect(browsing.takeNext() == nil && !browsing.hasFailed)
        // Wanted again, it is made again.
        browsing.want([Self.desk])
        #expect(browsing.takeNext() == .resolve(Self.desk))
        // Given up while it is made.
        browsing.want([])
        #expect(browsing.heard(Self.found(Self.desk, at: "/3")) == [])
        #expect(browsing.answered(.success("/3")) == [])
        #expect(browsing.takeNext() == .freeResolver("/3"))
    }

    @Test func aResolverThatIsRefused() {
        var browsing = Self.begun()
        browsing.want([Self.desk, Self.den])
        _ = browsing.takeNext()
        #expect(browsing.answered(.failure(Self.refusal())) == [.notFound(Self.desk)])
        #expect(browsing.takeNext() == .resolve(Self.den))
        _ = browsing.answered(.success("/2"))
        #expect(browsing.takeNext() == nil && browsing.hasFailed && !browsing.isSettled)
        browsing.retry()
        #expect(browsing.takeNext() == .resolve(Self.desk))
        _ = browsing.answered(.failure(Self.refusal()))
        // One that went and comes again is a new one.
        #expect(browsing.heard(Self.item("ItemRemove", Self.desk)) == [.unlisted(Self.desk)])
        #expect(!browsing.hasFailed)
    }

    @Test func aBrowserThatIsRefused() {
        var browsing = AvahiBrowsing()
        browsing.arrived()
        _ = browsing.takeNext()
        #expect(browsing.answered(.failure(Self.refusal("not you"))) == [.ended(.failed("not you"))])
        #expect(browsing.takeNext() == nil && browsing.hasFailed)
        browsing.retry()
        #expect(browsing.takeNext() == .browse)
        #expect(browsing.answered(.success("/b")) == [.began])
        #expect(!browsing.hasFailed)
    }

    @Test func aBrowserThatFails() {
        var browsing = Self.begun()
        browsing.want([Self.desk])
        _ = browsing.takeNext()
        _ = browsing.answered(.success("/1"))
        let events = browsing.heard(Self.signal("/b", AvahiWords.browser, "Failure", [.string("broken")]))
        #expect(events == [.ended(.failed("Avahi stopped listing: broken"))])
        var freed: [AvahiBrowsing.Step] = []
        while let step = browsing.takeNext() {
            freed.append(step)
            _ = browsing.answered(.success(""))
        }
        #expect(freed == [.freeBrowser("/b"), .freeResolver("/1")])
        browsing.retry()
        #expect(browsing.takeNext() == .browse)
    }

    @Test func anotherAvahiKnowsNothing() {
        var browsing = Self.begun()
        browsing.want([Self.desk])
        _ = browsing.takeNext()
        browsing.arrived()
        // The answer of the one before is nobody's.
        #expect(browsing.answered(.success("/1")) == [])
        #expect(browsing.takeNext() == .browse)
        _ = browsing.answered(.success("/b2"))
        #expect(browsing.heard(Self.item("ItemNew", Self.desk, at: "/b")) == [])
        #expect(browsing.heard(Self.item("ItemNew", Self.desk, at: "/b2")) == [.listed(Self.desk)])
    }

    static let senseless: [[BusValue]] = [
        [], head(desk), head(desk) + [.uint32(0), .uint32(0)],
        [.int32(0)] + head(desk).dropFirst() + [.uint32(0)],
        [.int32(-1)] + head(desk).dropFirst() + [.uint32(0)],
        [.int32(2), .int32(-1)] + head(desk).dropFirst(2) + [.uint32(0)],
        [.int32(2), .int32(2)] + head(desk).dropFirst(2) + [.uint32(0)],
        [.int32(2), .int32(0), .string("")] + head(desk).dropFirst(3) + [.uint32(0)],
        [.int32(2), .int32(0), .bytes([1])] + head(desk).dropFirst(3) + [.uint32(0)],
    ]

    @Test("signals that make no sense", arguments: senseless)
    func isIgnored(_ values: [BusValue]) {
        var browsing = Self.begun()
        for member in ["ItemNew", "ItemRemove"] {
            #expect(browsing.heard(Self.signal("/b", AvahiWords.browser, member, values)) == [])
        }
        browsing.want([Self.desk])
        _ = browsing.takeNext()
        _ = browsing.answered(.success("/1"))
        #expect(
            browsing.heard(Self.signal("/1", AvahiWords.resolver, "Found", values)) == [.notFound(Self.desk)])
    }
}
