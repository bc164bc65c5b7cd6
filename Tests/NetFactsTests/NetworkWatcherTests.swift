// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import NetFacts

@Suite("Network watcher", .serialized)
struct NetworkWatcherTests {
    @Test("this machine has a loopback with its address")
    func thisMachine() throws {
        let table = try NetworkWatcher.read()
        let loopback = try #require(table.interface(named: "lo"))
        #expect(loopback.kind == .loopback && table.isComplete)
        #expect(Set(table.interfaces.map(\.index)).count == table.interfaces.count)
    }

    @Test("a watcher that was never started, or is stopped twice, goes quietly")
    func stop() throws {
        let idle = try NetworkWatcher()
        idle.stop()
        let watcher = try NetworkWatcher()
        try watcher.start { _ in }
        watcher.stop()
        watcher.stop()
    }

    @Test(
        "changes in a network namespace are told at once",
        .enabled(if: Namespace.isPossible, "needs root and network namespaces"))
    func changes() throws {
        try Namespace.run {
            let tables = Tables()
            let watcher = try NetworkWatcher()
            #expect(watcher.table.interfaces.map(\.name) == ["lo"])
            #expect(watcher.table.primaryInterface == nil)
            try watcher.start(tables.add)
            defer { watcher.stop() }

            try ip("link add br-lan type bridge")
            try ip("link set br-lan up")
            try ip("addr add 192.168.1.20/24 dev br-lan")
            let address = try #require(IPAddress("192.168.1.20"))
            var table = try tables.wait { $0.owner(of: address)?.name == "br-lan" }
            #expect(table.interface(named: "br-lan")?.link.infoKind == "bridge")
            #expect(table.interface(named: "br-lan")?.link.isMainDefault == false)

            try ip("route add default via 192.168.1.1 dev br-lan")
            table = try tables.wait { $0.interface(named: "br-lan")?.link.isMainDefault == true }
            #expect(table.primaryInterface == table.interface(named: "br-lan")?.index)
            #expect(table.interface(named: "br-lan")?.kind == .lan)

            try ip("-6 route add default via fe80::1 dev br-lan metric 1024")
            table = try tables.wait { $0.interface(named: "br-lan")?.link.gateway6 != nil }
            let link = try #require(table.interface(named: "br-lan")?.link)
            #expect(link.gateway6?.description == "fe80::1" && link.gateway6?.scope == link.index)
            #expect(link.gateway?.description == "192.168.1.1")
            try ip("-6 route del default")
            table = try tables.wait { $0.interface(named: "br-lan")?.link.gateway6 == nil }

            try ip("addr del 192.168.1.20/24 dev br-lan")
            table = try tables.wait { !$0.owns(address) }
            #expect(table.primaryInterface == nil)
            try ip("link del br-lan")
            table = try tables.wait { $0.interface(named: "br-lan") == nil }
            #expect(watcher.table == table)
        }
    }

    @Test(
        "whoever looks again has the newest table when it returns, and so has whoever is told",
        .enabled(if: Namespace.isPossible, "needs root and network namespaces"))
    func lookAgain() throws {
        try Namespace.run {
            let told = Mutex<InterfaceTable?>(nil)
            let watcher = try NetworkWatcher()
            try watcher.start { table in told.withLock { $0 = table } }
            defer { watcher.stop() }
            for round in 0..<50 {
                try ip("link add wg\(round) type bridge")
                watcher.lookAgain()
                #expect(watcher.table.interface(named: "wg\(round)")?.kind == .tunnel)
                #expect(told.withLock { $0 }?.interface(named: "wg\(round)")?.kind == .tunnel)
                try ip("link del wg\(round)")
            }
        }
    }

    @Test(
        "a burst larger than the socket's buffer ends in the right table",
        .enabled(if: Namespace.isPossible, "needs root and network namespaces"))
    func burst() throws {
        try Namespace.run {
            let tables = Tables()
            let watcher = try NetworkWatcher()
            try watcher.start(tables.add)
            defer { watcher.stop() }
            try ip("link set lo up")
            let commands = (0..<4000).map { "addr add 10.\($0 / 250).\($0 % 250).1/32 dev lo\n" }.joined()
            let batch = NSTemporaryDirectory() + "latchkey-ip-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: batch) }
            try createExclusive(batch, Array(commands.utf8), mode: 0o600)
            try ip("-batch \(batch)")
            _ = try tables.wait { $0.interface(named: "lo")?.addresses.count ?? 0 >= 4000 }
        }
    }
}

/// The tables a watcher told, in order.
private final class Tables: Sendable {
    private let latest = Mutex<InterfaceTable?>(nil)
    private let isNew: WakeUp?

    init() { isNew = try? WakeUp() }

    var add: @Sendable (InterfaceTable) -> Void {
        { table in
            self.latest.withLock { $0 = table }
            self.isNew?.signal()
        }
    }

    struct NeverCame: Error {}

    /// The first table told that fits; waits for it.
    func wait(_ fits: (InterfaceTable) -> Bool) throws -> InterfaceTable {
        let deadline = monotonicNow() + .seconds(30)
        while true {
            if let table = latest.withLock({ $0 }), fits(table) { return table }
            guard let isNew, isNew.wait(until: deadline) else { throw NeverCame() }
            isNew.clear()
        }
    }
}
