// SPDX-License-Identifier: Apache-2.0

import Sockets
import Synchronization
import Wire

@testable import SystemBus

/// What was told from other threads, in order; a test waits for what it expects.
final class Told<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let flag: WakeUp

    struct NeverCame: Error { var instead: [Value] }

    init() throws { flag = try WakeUp() }

    func add(_ value: Value) {
        values.withLock { $0.append(value) }
        flag.signal()
    }

    var all: [Value] { values.withLock { $0 } }

    /// Everything told so far, once it fits; only ever waits in full for what never comes.
    @discardableResult
    func wait(until fits: ([Value]) -> Bool) throws -> [Value] {
        let deadline = monotonicNow() + .seconds(30)
        while true {
            let told = all
            if fits(told) { return told }
            guard flag.wait(until: deadline) else { throw NeverCame(instead: told) }
            flag.clear()
        }
    }

    /// The first `count` of them.
    @discardableResult
    func wait(for count: Int) throws -> [Value] { Array(try wait { $0.count >= count }.prefix(count)) }
}

/// A user of the bus that does what a test says.
final class Probe: BusUser {
    let link: BusLink
    private let connected: (Probe) -> Void
    private let lost: (Probe) -> Void
    /// For the test to keep subscriptions in.
    var kept: [BusSubscription] = []

    init(
        _ link: BusLink, connected: @escaping (Probe) -> Void = { _ in },
        lost: @escaping (Probe) -> Void = { _ in }
    ) {
        self.link = link
        self.connected = connected
        self.lost = lost
    }

    func busConnected() { connected(self) }
    func busLost() { lost(self) }
}

extension Bus {
    /// A bus that one probe uses.
    static func started(
        _ place: BusPlace, note: @escaping @Sendable (BusState) -> Void = { _ in },
        connected: @escaping @Sendable (Probe) -> Void = { _ in },
        lost: @escaping @Sendable (Probe) -> Void = { _ in }
    ) throws -> (bus: Bus, probe: BusUserHandle<Probe>) {
        let bus = try Bus(place)
        let probe = bus.add { Probe($0, connected: connected, lost: lost) }
        try bus.start(note)
        return (bus, probe)
    }
}
