// SPDX-License-Identifier: Apache-2.0

import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import Store

@Suite("Store")
struct StoreTests {
    let folder: TemporaryDirectory
    let store: Store

    init() throws {
        folder = try TemporaryDirectory()
        store = try Store(path: folder.database, create: true)
    }

    /// What a later start would see.
    private func reloaded() throws -> StoredState {
        store.close()
        return try Store(path: folder.database, create: false).load()
    }

    @Test("a new store holds nothing, and only its owner can read its files")
    func new() throws {
        let state = try store.load()
        #expect(state.identity == nil && state.devices.isEmpty && state.tombstones.isEmpty)
        #expect(state.settings.isEmpty && state.requirePairing == nil)
        try store.apply(.pairDevice(device(1)))
        for name in try directoryEntries(folder.path) {
            #expect(fileFacts(folder.path + "/" + name)?.mode == 0o600, "\(name)")
        }
    }

    @Test("a paired device comes back whole")
    func pair() throws {
        var full = try device(2, name: "Åsa’s “iPad” 日本\n", seen: 5)
        full.cableDevice = "hash"
        try store.apply(.pairDevice(full))
        try store.apply(.pairDevice(device(3, name: "")))
        let devices = try reloaded().devices.sorted { $0.pairedAt < $1.pairedAt }
        #expect(try devices == [full, device(3, name: "")])
    }

    @Test("pairing again replaces the record")
    func pairAgain() throws {
        try store.apply(.pairDevice(device(4, name: "old", seen: 5)))
        try store.apply(.pairDevice(device(4, name: "new")))
        #expect(try reloaded().devices == [device(4, name: "new")])
    }

    @Test("rename, seen and cable change only their columns")
    func update() throws {
        var want = try device(5)
        try store.apply(.pairDevice(want))
        try store.apply(.renameDevice(want.fingerprint, "Kitchen"))
        try store.apply(
            .deviceSeen(want.fingerprint, at: WallTime(milliseconds: 77), route: "through Tailscale"))
        try store.apply(.bindCable(want.fingerprint, "cable-hash"))
        want.name = "Kitchen"
        want.lastSeenAt = WallTime(milliseconds: 77)
        want.lastRoute = "through Tailscale"
        want.cableDevice = "cable-hash"
        #expect(try reloaded().devices == [want])
    }

    @Test("renaming or binding what is not there fails; seeing it does not")
    func absent() throws {
        let nobody = try key(6)
        #expect(
            failure { () throws(StoreError) in try store.apply(.renameDevice(nobody, "x")) }?.code
                == .constraint)
        #expect(
            failure { () throws(StoreError) in try store.apply(.bindCable(nobody, "x")) }?.code == .constraint
        )
        try store.apply(.deviceSeen(nobody, at: WallTime(milliseconds: 1), route: ""))
        #expect(store.checkHealth().isWritable, "a refused row is not the disk's fault")
    }

    @Test("removing leaves a tombstone, which only pairing or an asked-for import lifts")
    func remove() throws {
        let gone = try device(7)
        let stone = Tombstone(
            fingerprint: gone.fingerprint, removedAt: WallTime(milliseconds: 9), removedBy: "unix:0")
        try store.apply(.pairDevice(gone))
        try store.apply(.removeDevice(gone.fingerprint, stone))
        #expect(try store.load().devices.isEmpty)
        #expect(try store.load().tombstones == [stone])
        let refused = failure { () throws(StoreError) in
            try store.apply(.importDevices([gone], clearTombstones: []))
        }
        #expect(refused?.code == .constraint)
        #expect(try store.load().devices.isEmpty)
        try store.apply(.importDevices([gone], clearTombstones: [gone.fingerprint]))
        #expect(try store.load().devices == [gone])
        #expect(try store.load().tombstones.isEmpty)
        try store.apply(.removeDevice(gone.fingerprint, stone))
        try store.apply(.pairDevice(gone))
        #expect(try reloaded().tombstones.isEmpty)
    }

    @Test("lockouts are kept until their end, and the last word on one holds")
    func lockouts() throws {
        func lockout(_ kind: Lockout.Kind, _ key: String, _ until: Int64) -> Lockout {
            Lockout(kind, key, until: WallTime(milliseconds: until))
        }
        try store.apply(
            .lockouts(
                [
                    lockout(.homeBackoff, "192.0.2.1", 100), lockout(.remoteBackoff, "192.0.2.1", 200),
                    lockout(.quietSource, "192.0.2.1", 50), lockout(.askedWindow, "w", 60),
                ], now: WallTime(milliseconds: 10)))
        try store.apply(
            .lockouts(
                [lockout(.homeBackoff, "192.0.2.1", 300), lockout(.askedWindow, "w", 50)],
                now: WallTime(milliseconds: 50)))
        #expect(
            try Set(reloaded().lockouts)
                == [lockout(.homeBackoff, "192.0.2.1", 300), lockout(.remoteBackoff, "192.0.2.1", 200)])
    }

    @Test("loading on two connections finds what one does", arguments: [0, 1, 2, 3, 500])
    func parallelLoad(_ count: UInt32) throws {
        let many = try (0..<count).map { try device($0, seen: $0 % 3 == 0 ? Int64($0) : nil) }
        try store.apply(.importDevices(many, clearTombstones: []))
        // Gaps in the row numbers.
        for gone in many where gone.fingerprint.bytes[0] % 4 == 0 {
            let stone = Tombstone(
                fingerprint: gone.fingerprint, removedAt: WallTime(milliseconds: 1), removedBy: "x")
            try store.apply(.removeDevice(gone.fingerprint, stone))
        }
        let connection = try Connection(path: folder.database, access: .readOnly)
        let two = try ParallelLoad.devices(connection, path: folder.database, threshold: 0)
        #expect(two == many.filter { $0.fingerprint.bytes[0] % 4 != 0 })
        #expect(try store.load().devices == two)
    }

    @Test("an import is all or nothing")
    func importAllOrNothing() throws {
        let removed = try device(8)
        try store.apply(
            .removeDevice(
                removed.fingerprint,
                Tombstone(
                    fingerprint: removed.fingerprint, removedAt: WallTime(milliseconds: 1), removedBy: "x")))
        let good = try (100..<200).map { try device($0) }
        let refused = failure { () throws(StoreError) in
            try store.apply(.importDevices(good + [removed], clearTombstones: []))
        }
        #expect(refused?.code == .constraint)
        #expect(try reloaded().devices.isEmpty)
    }

    @Test("settings are set and cleared; requirePairing is apart")
    func settings() throws {
        try store.apply(.settings(values: ["home.bitrate": "1", "name": "Den"], requirePairing: nil))
        try store.apply(
            .settings(values: ["home.bitrate": "2", "name": nil], requirePairing: false),
            requirePairing: { _ throws(StoreError) in "0.abc" })
        let state = try reloaded()
        #expect(state.settings == ["home.bitrate": "2"])
        #expect(state.requirePairing == "0.abc")
    }

    @Test("the identity is committed once")
    func identity() throws {
        let first = StoredIdentity(
            fingerprint: try key(9), recognitionKey: Array(0..<32), createdAt: WallTime(milliseconds: 4))
        try store.commitIdentity(first, audit: audit("identity.create"))
        let again = StoredIdentity(
            fingerprint: try key(10), recognitionKey: Array(1..<33), createdAt: WallTime(milliseconds: 5))
        let refused = failure { () throws(StoreError) in
            try store.commitIdentity(again, audit: audit("identity.create"))
        }
        #expect(refused?.code == .constraint)
        #expect(try store.identity() == first)
        #expect(try store.audit().items.count == 1)
    }

    @Test("another identity, signed settings and tombstones for everybody, in one transaction or none of it")
    func rotate() throws {
        let first = StoredIdentity(
            fingerprint: try key(9), recognitionKey: Array(0..<32), createdAt: WallTime(milliseconds: 4))
        let next = StoredIdentity(
            fingerprint: try key(10), recognitionKey: Array(1..<33), createdAt: WallTime(milliseconds: 5))
        let change = StoreCommit(
            change: .rotate(next, removedBy: "unix:0"), audit: [audit("identity.rotate")])
        // Not before there is one.
        #expect(failure { () throws(StoreError) in try store.perform(change) }?.code == .constraint)
        try store.commitIdentity(first, audit: audit("identity.create"))
        for number in 1...3 { try store.apply(.pairDevice(device(UInt32(number)))) }
        let old = Tombstone(
            fingerprint: try key(3), removedAt: WallTime(milliseconds: 1), removedBy: "unix:7")
        try store.apply(.removeDevice(old.fingerprint, old))
        try store.apply(
            .settings(values: ["name": "Den"], requirePairing: false),
            requirePairing: { _ throws(StoreError) in "0.old" })
        let before = try store.load()

        let refused = failure { () throws(StoreError) in
            try store.perform(change) { stored throws(StoreError) in
                throw StoreError(.unsigned, stored ?? "nothing")
            }
        }
        #expect(refused?.code == .unsigned && refused?.message == "0.old" && refused?.leftNothing == true)
        let same = try store.load()
        #expect(same.identity == first && same.devices == before.devices && same.tombstones == [old])

        try store.perform(change) { stored throws(StoreError) in (stored ?? "") + ".new" }
        let state = try store.load()
        #expect(state.identity == next && state.devices.isEmpty)
        #expect(state.requirePairing == "0.old.new" && state.settings == ["name": "Den"])
        let tombstones = Dictionary(uniqueKeysWithValues: state.tombstones.map { ($0.fingerprint, $0) })
        #expect(tombstones.count == 3 && tombstones[old.fingerprint] == old)
        for number in 1...2 as ClosedRange<UInt32> {
            let tombstone = try #require(tombstones[key(number)])
            #expect(tombstone.removedAt == next.createdAt && tombstone.removedBy == "unix:0")
        }
        #expect(try store.audit(limit: 1).items.first?.row.action == "identity.rotate")
        // Pairing lifts a tombstone, as ever.
        try store.apply(.pairDevice(device(1)))
        #expect(try reloaded().devices == [device(1)])
    }

    @Test("audit rows come newest first, page by page, and cannot be changed or removed")
    func auditRows() throws {
        for number in 0..<7 {
            try store.perform(StoreCommit(change: .auditOnly, audit: [audit("a\(number)")]))
        }
        var seen: [String] = []
        var after: String?
        repeat {
            let page = try store.audit(after: after, limit: 3)
            seen += page.items.map(\.row.action)
            after = page.next
        } while after != nil
        #expect(seen == ["a6", "a5", "a4", "a3", "a2", "a1", "a0"])
        #expect(failure { () throws(StoreError) in try store.audit(after: "nonsense") }?.code == .badCursor)
        let connection = try Connection(path: folder.database, access: .readWrite)
        for sql in ["UPDATE audit SET outcome = 'x'", "DELETE FROM audit"] {
            #expect(failure { () throws(StoreError) in try connection.runScript(sql) }?.code == .constraint)
        }
    }

    @Test("a change and its audit row stand or fall together")
    func auditWithChange() throws {
        let commit = StoreCommit(change: .pairDevice(try device(11)), audit: [audit("")])
        let refused = failure { () throws(StoreError) in try store.perform(commit) }
        #expect(refused?.code == .constraint)
        #expect(try store.load().devices.isEmpty)
        #expect(try store.audit().items.isEmpty)
    }

    @Test("after closing, commits and reads fail, and one file is left")
    func closed() throws {
        try store.apply(.pairDevice(device(12)))
        store.close()
        store.close()
        #expect(failure { () throws(StoreError) in try store.apply(.auditOnly) }?.code == .closed)
        #expect(failure { () throws(StoreError) in try store.load() }?.code == .closed)
        #expect(try directoryEntries(folder.path) == ["latchkey.db"])
    }
}
