// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Foundation
import Sockets
import Testing
import Wire

@testable import SystemBus

@Suite("Bus")
struct BusTests {
    private static let silentCall = BusCall(
        to: "org.example.Silent", path: "/", interface: "org.example", member: "Wait", limit: .seconds(3600))

    private static let anyCall = BusCall(
        to: BusMatch.busName, path: BusMatch.busPath, interface: BusMatch.busName, member: "GetId")

    @Test("a bus that dies fails what is pending, tells its users first, and is found again when it is back")
    func comesBack() throws {
        let daemon = try TestDaemon()
        var peer = try TestPeer(daemon.address, name: "org.example.Silent")
        let told = try Told<String>()
        let states = try Told<String>()
        let (bus, probe) = try Bus.started(
            daemon.place,
            note: { state in
                if case .lost = state { states.add("lost") } else { states.add("connected") }
            },
            connected: { probe in
                let match = BusMatch(
                    sender: BusMatch.busName, place: .at(BusMatch.busPath), member: "NameOwnerChanged")
                let subscription = probe.link.listen(match, installed: { _ in told.add("ready") }) { _ in
                    told.add("heard")
                }
                for number in 1...3 {
                    probe.link.call(Self.silentCall) { answer in
                        if case .failure(let error) = answer { told.add("\(error.code) \(number)") }
                    }
                }
                probe.kept.append(subscription)
            },
            lost: { probe in
                told.add("gone \(probe.link.isConnected) \(probe.kept.last?.isActive ?? false)")
                probe.link.call(Self.anyCall) { answer in
                    if case .failure(let error) = answer { told.add("\(error.code)") }
                }
            })
        defer { bus.stop() }
        try told.wait(for: 1)
        let first = ["ready", "gone false false", "lost 1", "lost 2", "lost 3", "lost"]
        daemon.stop()
        #expect(try told.wait(for: first.count) == first)
        probe.tell { $0.kept.removeAll() }
        // Nobody is told while it stays away, however often it is looked for.
        try daemon.start()
        peer.stop()
        peer = try TestPeer(daemon.address, name: "org.example.Silent")
        defer { peer.stop() }
        try told.wait { $0.dropFirst(first.count).contains("ready") }
        let other = try TestPeer(daemon.address)
        other.stop()
        try told.wait { $0.last == "heard" }
        #expect(states.all == ["connected", "lost", "connected"])
    }

    @Test("without a bus nobody is told of one, and its absence is said once")
    func absent() throws {
        let daemon = try TestDaemon()
        daemon.stop()
        let states = try Told<BusState>()
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            daemon.place, note: states.add, connected: { _ in told.add("connected") },
            lost: { _ in told.add("lost") })
        defer { bus.stop() }
        guard case .lost(let why) = try states.wait(for: 1)[0] else { throw CannotRun(what: "a state") }
        #expect(why.contains("/bus"))
        try daemon.start()
        #expect(try told.wait(for: 1) == ["connected"])
        #expect(states.all.count == 2 && states.all.last == .connected)
    }

    @Test("an address that is none is a bus that is not there")
    func badAddress() throws {
        for address in ["", "unix:", "tcp", "unix:path=" + String(repeating: "x", count: 200)] {
            var place = BusPlace(address: address)
            place.pauses = ReconnectPauses([.milliseconds(1)])
            let states = try Told<BusState>()
            let (bus, _) = try Bus.started(place, note: states.add)
            guard case .lost = try states.wait(for: 1)[0] else { throw CannotRun(what: "a state") }
            bus.stop()
        }
    }

    /// Somebody who listens where the bus should be: says nothing, rubbish, or hangs up.
    @Test(
        "one who only listens there is lost again and again",
        arguments: ["", "OK no bus at all\r\n", "hang up"])
    func rubbish(_ words: String) throws {
        let directory = NSTemporaryDirectory() + "latchkey-bus-" + UUID().uuidString.prefix(8)
        try makeDirectory(directory, mode: 0o700)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let listener = try Listener(path: directory + "/bus")
        var place = BusPlace(address: "unix:path=\(directory)/bus")
        place.pauses = ReconnectPauses([.milliseconds(1)])
        place.connectLimit = .milliseconds(50)
        let told = try Told<String>()
        let (bus, _) = try Bus.started(
            place, note: { _ in told.add("lost") }, connected: { _ in told.add("connected") })
        defer { bus.stop() }
        for _ in 0..<3 {
            let connection = try listener.accept()
            if words == "hang up" { close(connection); continue }
            _ = unsafe words.withCString { unsafe write(connection, $0, strlen($0)) }
            listener.kept.append(connection)
        }
        #expect(try told.wait(for: 1) == ["lost"])
        #expect(told.all == ["lost"])
    }

    @Test("a frozen bus lets calls fail in time, and goes on")
    func frozen() throws {
        let daemon = try TestDaemon()
        let told = try Told<String>()
        let (bus, probe) = try Bus.started(daemon.place, connected: { _ in told.add("connected") })
        defer { bus.stop() }
        try told.wait(for: 1)
        daemon.freeze()
        let ask: @Sendable (Duration) -> Void = { limit in
            probe.tell { probe in
                var call = Self.anyCall
                call.limit = limit
                probe.link.call(call) { answer in
                    switch answer {
                    case .success: told.add("answered")
                    case .failure(let error): told.add(error.code.rawValue)
                    }
                }
            }
        }
        ask(.milliseconds(20))
        #expect(try told.wait(for: 2).last == "unanswered")
        daemon.thaw()
        ask(.seconds(30))
        #expect(try told.wait(for: 3).last == "answered")
    }

    @Test(
        "after stop nobody is called, not even for what is pending; stopping twice, or never starting, is quiet"
    )
    func stop() throws {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: "org.example.Silent")
        defer { peer.stop() }
        let told = try Told<String>()
        let (bus, probe) = try Bus.started(
            daemon.place,
            connected: { probe in
                probe.link.call(Self.silentCall) { _ in told.add("answer") }
                told.add("connected")
            }, lost: { _ in told.add("lost") })
        try told.wait(for: 1)
        bus.stop()
        bus.stop()
        probe.tell { _ in told.add("job") }
        #expect(told.all == ["connected"])
        try Bus(daemon.place).stop()
    }

    @Test("a user that is added late is told at once; each finds its own by its handle")
    func lateUser() throws {
        let daemon = try TestDaemon()
        let told = try Told<String>()
        let (bus, first) = try Bus.started(daemon.place, connected: { _ in told.add("first") })
        defer { bus.stop() }
        try told.wait(for: 1)
        let second = bus.add { Probe($0, connected: { _ in told.add("second") }) }
        first.tell { $0.busConnected() }
        second.tell { $0.busConnected() }
        #expect(try told.wait(for: 4) == ["first", "second", "first", "second"])
    }

    @Test("pauses grow to the last step and begin anew after a success")
    func pauses() {
        var pauses = ReconnectPauses.usual
        #expect((0..<7).map { _ in pauses.next() } == [1, 2, 5, 10, 30, 30, 30].map { .seconds($0) })
        pauses.reset()
        #expect(pauses.next() == .seconds(1))
        var none = ReconnectPauses([])
        #expect(none.next() == .zero)
    }

    @Test("the machine's bus is at its one place")
    func systemPlace() { #expect(BusPlace.system.address == "unix:path=/run/dbus/system_bus_socket") }
}

/// A Unix socket that others connect to.
private final class Listener {
    private let socket: Socket
    var kept: [Int32] = []

    init(path: String) throws { socket = try Socket.unixListener(path: path, mode: 0o600) }

    deinit { for descriptor in kept { close(descriptor) } }

    func accept() throws -> Int32 {
        guard try socket.wait(for: .readable, until: monotonicNow() + .seconds(30)) else {
            throw CannotRun(what: "a connection")
        }
        return Glibc.accept(socket.descriptor, nil, nil)
    }
}
