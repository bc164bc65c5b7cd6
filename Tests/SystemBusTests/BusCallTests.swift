// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SystemBus

@Suite("Bus calls")
struct BusCallTests {
    static let echo = "org.example.Echo"

    /// What calls a connected probe makes are answered with, in the order of the answers.
    private func answers(
        _ calls: [BusCall], name: String = echo,
        peer answer: @escaping @Sendable (PeerCall) -> PeerReply = { .values($0.arguments) }
    ) throws -> [BusAnswer] {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: name, answer)
        defer { peer.stop() }
        let told = try Told<BusAnswer>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                for call in calls { probe.link.call(call, told.add) }
            })
        defer { bus.stop() }
        return try told.wait(for: calls.count)
    }

    private func call(
        _ arguments: [BusValue] = [], to destination: String = echo, path: String = "/org/example/echo",
        limit: Duration = .seconds(10)
    ) -> BusCall {
        BusCall(
            to: destination, path: path, interface: "org.example.Echo", member: "Say", arguments, limit: limit
        )
    }

    static let values: [BusValue] = [
        .byte(255), .bool(true), .bool(false), .int16(-32768), .uint16(65535), .int32(-2_147_483_648),
        .uint32(4_294_967_295), .int64(.min), .uint64(.max), .double(-0.5), .string(""), .string("Grüße, 世界"),
        .objectPath("/"), .objectPath("/org/freedesktop/login1/seat/seat0"), .bytes([]),
        .bytes([0, 1, 255]), .strings([]), .strings(["eins", "", "zwei"]), .byteArrays([]),
        .byteArrays([Array("p=1".utf8), [], [0]]), .structure([.string("c1"), .objectPath("/c1")]),
        .array(of: "(so)", []), .array(of: "(so)", [.structure([.string("1"), .objectPath("/_1")])]),
        .variant(.bool(true)), .variant(.variant(.structure([.uint32(1000), .objectPath("/u")]))),
        .array(
            of: "{sv}",
            [
                .entry(.string("LockedHint"), .variant(.bool(false))),
                .entry(.string("User"), .variant(.structure([.uint32(1000), .objectPath("/u")]))),
            ]),
        .array(of: "aai", [.array(of: "ai", [.array(of: "i", [.int32(1)]), .array(of: "i", [])])]),
    ]

    @Test("every type goes there and back")
    func types() throws {
        let found = try answers(Self.values.map { call([$0]) } + [call(Self.values), call()])
        #expect(found.prefix(Self.values.count) == Self.values.map { .success([$0]) }[...])
        #expect(found.suffix(2) == [.success(Self.values), .success([])])
    }

    struct Named: Sendable, CustomTestStringConvertible {
        let value: BusValue
        let signature: String
        var testDescription: String { signature }
    }

    @Test(
        "signatures",
        arguments: [
            Named(value: .byteArrays([]), signature: "aay"), Named(value: .strings([]), signature: "as"),
            Named(value: .structure([.string("s"), .objectPath("/")]), signature: "(so)"),
            Named(value: .array(of: "{sv}", []), signature: "a{sv}"),
            Named(value: .entry(.string("n"), .variant(.byte(1))), signature: "{sv}"),
            Named(
                value: .structure([.int16(0), .uint16(0), .int64(0), .uint64(0), .double(0)]),
                signature: "(nqxtd)"),
            Named(value: .structure([.bool(true), .byte(0), .int32(0), .uint32(0)]), signature: "(byiu)"),
            Named(value: .structure([.signature("s"), .bytes([])]), signature: "(gay)"),
        ])
    func signatures(_ row: Named) { #expect(row.value.signature == row.signature) }

    @Test("an answer of the wrong type is nil, not something like it")
    func accessors() {
        for value in Self.values {
            #expect((value.text != nil) == (value.signature == "s"))
            #expect((value.path != nil) == (value.signature == "o"))
            #expect((value.flag != nil) == (value.signature == "b"))
            #expect((value.number != nil) == (value.signature == "u"))
            #expect((value.signedNumber != nil) == (value.signature == "i"))
            #expect((value.held != nil) == (value.signature == "v"))
            #expect((value.members != nil) == value.signature.hasPrefix("("))
            #expect((value.elements != nil) == (value.signature.hasPrefix("a") && value.signature != "ay"))
            #expect((value.properties != nil) == (value.signature == "a{sv}"))
        }
        let twice = BusValue.entry(.string("LockedHint"), .variant(.bool(false)))
        #expect(BusValue.array(of: "{sv}", [twice, twice]).properties == nil)
    }

    @Test("an error carries its name")
    func refused() throws {
        let found = try answers([call()]) { _ in .error("org.freedesktop.login1.NoSuchSeat") }
        guard case .failure(let error) = found[0] else { throw CannotRun(what: "an answer") }
        #expect(error.code == .refused && error.name == "org.freedesktop.login1.NoSuchSeat")
        #expect(error.message == "org.example.Echo.Say: as the test says")
    }

    @Test("nobody of that name is an error, and starts nobody")
    func nobody() throws {
        let found = try answers([call(to: "org.example.Nobody"), call(to: ":1.4096")])
        for answer in found {
            guard case .failure(let error) = answer else { throw CannotRun(what: "no error") }
            #expect(error.code == .refused)
        }
    }

    @Test("a silent service fails its callers after their limits, each its own")
    func silent() throws {
        let found = try answers([
            call(limit: .milliseconds(300)), call(limit: .milliseconds(1)), call(limit: .zero),
        ]) {
            _ in .silence
        }
        for answer in found {
            guard case .failure(let error) = answer else { throw CannotRun(what: "no error") }
            #expect(error.code == .unanswered)
        }
    }

    @Test("a service that leaves with a call of ours fails it at once")
    func leaves() throws {
        let daemon = try TestDaemon()
        let heard = try Told<PeerCall>()
        let peer = try TestPeer(daemon.address, name: Self.echo) {
            heard.add($0)
            return .silence
        }
        let told = try Told<BusAnswer>()
        let long = call(limit: .seconds(3600))
        let (bus, _) = try Bus.started(daemon.place, connected: { $0.link.call(long, told.add) })
        defer { bus.stop() }
        try heard.wait(for: 1)
        peer.stop()
        guard case .failure(let error) = try told.wait(for: 1)[0] else { throw CannotRun(what: "no error") }
        #expect(error.code == .unanswered)
    }

    @Test("what has no place in a message is not sent, and said after the call has returned")
    func unsendable() throws {
        let bad = [
            call([.string("a\0b")]), call([.objectPath("login1")]), call([.objectPath("/a\0b")]),
            call([.signature("s")]),
            call(path: "echo"),
            call(to: "no name"), call([.structure([])]), call([.array(of: "s", [.byte(1)])]),
        ]
        let daemon = try TestDaemon()
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                for call in bad {
                    probe.link.call(call) { answer in
                        if case .failure(let error) = answer { told.add(error.code.rawValue) }
                    }
                }
                told.add("returned")
            })
        defer { bus.stop() }
        let found = try told.wait(for: bad.count + 1)
        #expect(found == ["returned"] + bad.map { _ in "unsendable" })
    }

    @Test("only the one who was called can answer")
    func answeredBy() {
        #expect(call(to: ":1.5").isAnswered(by: ":1.5") && !call(to: ":1.5").isAnswered(by: ":1.55"))
        #expect(!call(to: "org.freedesktop.DBus").isAnswered(by: ":1.5"))
        #expect(call(to: "org.freedesktop.DBus").isAnswered(by: "org.freedesktop.DBus"))
        #expect(call(to: "org.freedesktop.login1").isAnswered(by: ":1.5"))
    }

    private static func words<Value>(_ answer: Result<Value, BusError>) -> String {
        switch answer {
        case .success(let value): "\(value)"
        case .failure(let error): error.code.rawValue
        }
    }

    @Test("properties, one and all, and answers that are none")
    func properties() throws {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: Self.echo) { call in
            switch (call.member, call.arguments.last) {
            case ("Get", .string("Hint")): .values([.variant(.bool(true))])
            case ("Get", .string("Bare")): .values([.bool(true)])
            case ("GetAll", .string("a.b")):
                .values([.array(of: "{sv}", [.entry(.string("Hint"), .variant(.bool(true)))])])
            case ("GetAll", _): .values([.strings(["Hint"])])
            default: .error("org.freedesktop.DBus.Error.UnknownProperty")
            }
        }
        defer { peer.stop() }
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                for name in ["Hint", "Bare", "None"] {
                    probe.link.property(name, of: "a.b", at: "/", from: Self.echo) {
                        told.add(Self.words($0))
                    }
                }
                for interface in ["a.b", "a.c"] {
                    probe.link.properties(of: interface, at: "/", from: Self.echo) {
                        told.add(Self.words($0))
                    }
                }
            })
        defer { bus.stop() }
        let found = try told.wait(for: 5)
        #expect(
            found[0].contains("bool(true)") && found[1].contains("unreadable") && found[2].contains("refused")
        )
        #expect(found[3].contains("Hint") && found[4].contains("unreadable"))
    }
}
