// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import SystemBus

/// How often a call is still refused.
final class RefusalCounts: Sendable {
    private let member: String
    private let left: Mutex<Int>

    init(_ member: String, _ count: Int) {
        self.member = member
        left = Mutex(count)
    }

    func isRefused(_ called: String) -> Bool {
        guard called == member else { return false }
        return left.withLock { left in
            left -= 1
            return left >= 0
        }
    }
}

/// A search over a real bus, with an Avahi that does what a test says.
struct AvahiBrowserTests {
    /// Looks up everything, and tells what it hears.
    final class Searcher: BusUser {
        private var browser: AvahiBrowser?
        private var services: [AvahiService] = []

        init(_ link: BusLink, _ told: Told<AvahiEvent>) {
            browser = AvahiBrowser(link, pauses: ReconnectPauses([.milliseconds(10)])) {
                [unowned self] event in
                switch event {
                case .began, .ended: services = []
                case .listed(let service): services.append(service)
                case .unlisted(let service): services.removeAll { $0 == service }
                case .found, .notFound, .allForNow: break
                }
                told.add(event)
                return services
            }
        }

        func busConnected() { browser?.busConnected() }
        func busLost() { browser?.busLost() }
    }

    static func heard(_ signal: BusSignal) -> PeerSignal {
        PeerSignal(
            path: signal.path, interface: signal.interface, member: signal.member, arguments: signal.arguments
        )
    }

    static let desk = AvahiBrowsingTests.desk
    static let found = AvahiEvent.found(desk, AvahiBrowsingTests.record)

    /// One that tells all it knows before it says where its objects are.
    static func avahi(
        _ daemon: TestDaemon, calls: Told<String>? = nil, refusing: RefusalCounts? = nil
    ) throws -> TestPeer {
        try TestPeer(daemon.address, name: AvahiWords.name) { call in
            calls?.add(call.member + (call.path == "/" ? "" : " " + call.path))
            if refusing?.isRefused(call.member) == true {
                return .error("org.freedesktop.Avahi.TooManyObjectsError")
            }
            switch call.member {
            case "ServiceBrowserNew":
                return .after([heard(AvahiBrowsingTests.item("ItemNew", desk))], [.objectPath("/b")])
            case "ServiceResolverNew":
                return .after([heard(AvahiBrowsingTests.found(desk, at: "/1"))], [.objectPath("/1")])
            default: return .values([])
            }
        }
    }

    static func search(_ daemon: TestDaemon, _ told: Told<AvahiEvent>) throws -> Bus {
        let bus = try Bus(daemon.place)
        bus.add { Searcher($0, told) }
        try bus.start()
        return bus
    }

    @Test func signalsBeforeTheAnswerAreHeard() throws {
        let daemon = try TestDaemon()
        let (calls, told) = (try Told<String>(), try Told<AvahiEvent>())
        let avahi = try Self.avahi(daemon, calls: calls)
        let bus = try Self.search(daemon, told)
        defer { bus.stop() }
        #expect(try told.wait(for: 3) == [.began, .listed(Self.desk), Self.found])
        avahi.send(Self.heard(AvahiBrowsingTests.item("ItemRemove", Self.desk)))
        #expect(try told.wait(for: 4).last == .unlisted(Self.desk))
        #expect(
            try calls.wait(for: 3) == ["ServiceBrowserNew", "ServiceResolverNew", "Free /1"])
    }

    @Test func avahiGoesAndComes() throws {
        let daemon = try TestDaemon()
        let told = try Told<AvahiEvent>()
        let bus = try Self.search(daemon, told)
        defer { bus.stop() }
        try told.wait(for: 1)
        for _ in 0..<2 {
            let before = told.all.count
            #expect(told.all.last == .ended(.noAvahi))
            let avahi = try Self.avahi(daemon)
            #expect(try told.wait(for: before + 3).suffix(3) == [.began, .listed(Self.desk), Self.found])
            avahi.stop()
            try told.wait(for: before + 4)
        }
        daemon.stop()
        #expect(try told.wait { $0.last == .ended(.noBus) }.count == 10)
        try daemon.start()
        let avahi = try Self.avahi(daemon)
        try told.wait { $0.last == Self.found }
        withExtendedLifetime(avahi) {}
    }

    @Test(arguments: ["ServiceBrowserNew", "ServiceResolverNew"])
    func whatIsRefusedIsTriedAgain(_ member: String) throws {
        let daemon = try TestDaemon()
        let told = try Told<AvahiEvent>()
        let refusing = RefusalCounts(member, 2)
        let avahi = try Self.avahi(daemon, refusing: refusing)
        let bus = try Self.search(daemon, told)
        defer { bus.stop() }
        let events = try told.wait { $0.last == Self.found }
        let refusals = events.count {
            if case .ended(.failed) = $0 { true } else { $0 == .notFound(Self.desk) }
        }
        #expect(refusals == 2)
        withExtendedLifetime(avahi) {}
    }

    /// Anybody on the bus can send a signal that looks like Avahi's.
    @Test func onlyAvahiIsHeard() throws {
        let daemon = try TestDaemon()
        let told = try Told<AvahiEvent>()
        let avahi = try Self.avahi(daemon)
        let stranger = try TestPeer(daemon.address)
        let bus = try Self.search(daemon, told)
        defer { bus.stop() }
        try told.wait(for: 3)
        stranger.send(Self.heard(AvahiBrowsingTests.item("ItemRemove", Self.desk)))
        avahi.send(Self.heard(AvahiBrowsingTests.signal("/b", AvahiWords.browser, "AllForNow")))
        #expect(try told.wait(for: 4).last == .allForNow)
    }
}
