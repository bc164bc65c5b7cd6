// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SystemBus

@Suite("Bus signals")
struct BusSignalTests {
    static let name = "org.example.Lamp"
    static let interface = "org.example.Lamp"

    private func signal(
        _ member: String, path: String = "/lamp", interface: String = interface, _ arguments: BusValue...,
        to destination: String? = nil
    ) -> PeerSignal {
        PeerSignal(
            path: path, interface: interface, member: member, arguments: arguments, destination: destination)
    }

    /// What is heard by `match` of what `peer` sends, up to a last signal that each match below lets through.
    private func heard(_ match: (_ peer: String) -> BusMatch, _ signals: [PeerSignal]) throws -> [String] {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: Self.name)
        defer { peer.stop() }
        let told = try Told<String>()
        let match = match(peer.uniqueName)
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                probe.kept.append(
                    probe.link.listen(match, installed: { _ in told.add("installed") }) {
                        told.add($0.path + " " + $0.member)
                    })
            })
        defer { bus.stop() }
        try told.wait(for: 1)
        for signal in signals { peer.send(signal) }
        return Array(try told.wait { $0.last?.hasSuffix("Last") ?? false }.dropFirst().dropLast())
    }

    @Test("a match hears what it names")
    func matches() throws {
        let all = [
            signal("On"), signal("Off"), signal("On", path: "/lamp/one"), signal("On", path: "/lampshade"),
            signal("On", interface: "org.example.Other"), signal("Last", path: "/lamp"),
        ]
        #expect(
            try heard({ BusMatch(sender: $0, place: .at("/lamp")) }, all) == [
                "/lamp On", "/lamp Off", "/lamp On",
            ])
        #expect(
            try heard({ BusMatch(sender: $0, place: .under("/lamp"), interface: Self.interface) }, all)
                == ["/lamp On", "/lamp Off", "/lamp/one On"])
        #expect(
            try heard({ BusMatch(sender: $0, place: .under("/")) }, all)
                == ["/lamp On", "/lamp Off", "/lamp/one On", "/lampshade On", "/lamp On"])
        #expect(
            try heard({ BusMatch(sender: $0, place: .at("/lamp"), member: "Last") }, all) == [])
        #expect(
            try heard(
                { BusMatch(sender: $0, place: .at("/lamp"), firstArgument: "b") },
                [
                    signal("On", .string("a")), signal("On"), signal("Off", .string("b")),
                    signal("Last", .string("b")),
                ])
                == ["/lamp Off"])
    }

    @Test("the rule as AddMatch takes it")
    func rule() {
        let match = BusMatch(
            sender: ":1.5", place: .under("/org/freedesktop/login1"), interface: "a.b", member: "Lock",
            firstArgument: "it's")
        #expect(
            match.rule
                == "type='signal',sender=':1.5',path_namespace='/org/freedesktop/login1',interface='a.b',member='Lock',"
                + "arg0='it'\\''s'")
        #expect(BusMatch(sender: ":1.5", place: .at("/a")).rule == "type='signal',sender=':1.5',path='/a'")
    }

    /// Anybody may send a signal straight to a process, and the bus asks no match whether it wants it.
    @Test("a signal that another than the named sender sends is not heard")
    func forged() throws {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: Self.name)
        let forger = try TestPeer(daemon.address)
        defer { peer.stop(); forger.stop() }
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                let hear: (BusSignal) -> Void = { told.add($0.member + " from " + $0.sender) }
                let place = BusMatch.Place.at("/lamp")
                probe.kept.append(probe.link.listen(BusMatch(sender: peer.uniqueName, place: place), hear))
                // A well-known name matches nobody's signals, its owner's neither.
                probe.kept.append(probe.link.listen(BusMatch(sender: Self.name, place: place), hear))
                Self.watch(forger, by: probe, told)
            })
        defer { bus.stop() }
        let own = try own(told)
        forger.send(signal("On"), signal("On", to: own), signal("Done", path: "/done"))
        try told.wait { $0.last == "forged" }
        peer.send(signal("Off"), signal("Last", to: own))
        #expect(
            try told.wait { $0.last?.hasPrefix("Last") ?? false }.dropFirst()
                == ["forged", "Off from \(peer.uniqueName)", "Last from \(peer.uniqueName)"])
    }

    @Test("a name's owner: nobody, one, another, nobody; and what a forger says of it")
    func follow() throws {
        let daemon = try TestDaemon()
        let forger = try TestPeer(daemon.address)
        defer { forger.stop() }
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                probe.kept.append(
                    probe.link.follow(name: Self.name) { owner in
                        if case .success(let owner) = owner {
                            told.add(owner ?? "nobody")
                        } else {
                            told.add("error")
                        }
                    })
                Self.watch(forger, by: probe, told)
            })
        defer { bus.stop() }
        let own = try own(told)
        let first = try TestPeer(daemon.address, name: Self.name)
        try told.wait { $0.last == first.uniqueName }
        forger.send(
            PeerSignal(
                path: BusMatch.busPath, interface: BusMatch.busName, member: "NameOwnerChanged",
                arguments: [.string(Self.name), .string(first.uniqueName), .string(forger.uniqueName)],
                destination: own), signal("Done", path: "/done"))
        try told.wait { $0.last == "forged" }
        first.stop()
        try told.wait { $0.last == "nobody" }
        let second = try TestPeer(daemon.address, name: Self.name)
        try told.wait { $0.last == second.uniqueName }
        second.stop()
        let wanted = [
            "nobody", "own \(own)", first.uniqueName, "forged", "nobody", second.uniqueName, "nobody",
        ]
        #expect(try told.wait(for: wanted.count) == wanted)
    }

    @Test("a name that is owned already, and one that cannot be sent")
    func followPresent() throws {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: Self.name)
        defer { peer.stop() }
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                for name in [Self.name, "a\0b"] {
                    probe.kept.append(
                        probe.link.follow(name: name) { owner in
                            switch owner {
                            case .success(let owner): told.add(owner ?? "nobody")
                            case .failure(let error): told.add(error.code.rawValue)
                            }
                        })
                }
            })
        defer { bus.stop() }
        let found = Set(try told.wait(for: 2))
        #expect(found == [peer.uniqueName, "unsendable"])
    }

    @Test("a signal that was sent before an answer is heard before it")
    func order() throws {
        let daemon = try TestDaemon()
        let path = "/lamp"
        let peer = try TestPeer(daemon.address, name: Self.name) { call in
            .after(
                (0..<200).map {
                    PeerSignal(path: path, interface: Self.interface, member: "Step", arguments: [.int32($0)])
                }, [.string("done")])
        }
        defer { peer.stop() }
        let told = try Told<BusValue?>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                probe.kept.append(
                    probe.link.listen(BusMatch(sender: peer.uniqueName, place: .at(path))) {
                        told.add($0.arguments.first)
                    })
                probe.link.call(
                    BusCall(to: peer.uniqueName, path: path, interface: Self.interface, member: "Go")
                ) { told.add((try? $0.get())?.first) }
            })
        defer { bus.stop() }
        #expect(try told.wait(for: 201) == (0..<200).map { .int32($0) } + [.string("done")])
    }

    @Test("a subscription that ended hears nothing more, not even the signal it was ended by")
    func cancel() throws {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: Self.name)
        defer { peer.stop() }
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            daemon.place,
            connected: { probe in
                let match = BusMatch(sender: peer.uniqueName, place: .at("/lamp"))
                probe.kept.append(
                    probe.link.listen(match) { signal in
                        told.add("first " + signal.member)
                        if signal.member == "Off" { probe.kept[1].cancel() }
                        if signal.member == "Last" { probe.kept.removeLast() }
                    })
                probe.kept.append(probe.link.listen(match) { told.add("second " + $0.member) })
                probe.kept.append(
                    probe.link.listen(match, installed: { _ in told.add("ready") }) {
                        told.add("third " + $0.member)
                    })
            })
        defer { bus.stop() }
        try told.wait(for: 1)
        peer.send(signal("On"), signal("Off"), signal("On"), signal("Last"), signal("Over"))
        let wanted = [
            "ready", "first On", "second On", "third On", "first Off", "third Off", "first On", "third On",
            "first Last", "first Over",
        ]
        #expect(try told.wait { $0.last == "first Over" } == wanted)
    }

    // MARK: Support

    /// Hears when a forger has sent all it wanted; gives the name to send to.
    private static func watch(_ forger: TestPeer, by probe: Probe, _ told: Told<String>) {
        let done = BusMatch(sender: forger.uniqueName, place: .at("/done"))
        let own = probe.link.ownName
        probe.kept.append(
            probe.link.listen(done, installed: { _ in told.add("own " + own) }) { _ in told.add("forged") })
    }

    private func own(_ told: Told<String>) throws -> String {
        let lines = try told.wait { $0.contains { $0.hasPrefix("own ") } }
        return String(try #require(lines.first { $0.hasPrefix("own ") }).dropFirst(4))
    }
}
