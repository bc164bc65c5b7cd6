// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import Store

@Suite("Writer")
struct WriterTests {
    /// What each commit was told, by its place.
    final class Results: Sendable {
        let all = Mutex<[(place: Int, result: Result<Void, StoreError>)]>([])
        let done = Gate()

        func wait(for count: Int) {
            while all.withLock({ $0.count }) < count { done.wait() }
        }

        func note(_ place: Int) -> @Sendable (Result<Void, StoreError>) -> Void {
            { result in
                self.all.withLock { $0.append((place, result)) }
                self.done.signal()
            }
        }
    }

    let folder: TemporaryDirectory
    let store: Store

    init() throws {
        folder = try TemporaryDirectory()
        store = try Store(path: folder.database, create: true)
    }

    @Test("commits that wait together share a transaction; one that is refused fails alone")
    func grouped() throws {
        let gate = Gate()
        let results = Results()
        store.hold(until: gate)
        for place in 0..<40 {
            let change: StoreChange =
                place == 17 ? .renameDevice(try key(9999), "nobody") : .pairDevice(try device(UInt32(place)))
            store.submit(
                StoreCommit(change: change, audit: [audit("a\(place)")]), completion: results.note(place))
        }
        let before = store.checkHealth().transactions
        gate.signal()
        results.wait(for: 40)
        let all = results.all.withLock { $0 }
        #expect(all.map(\.place) == Array(0..<40), "in the order they were queued")
        #expect(all.filter { $0.result.error != nil }.map(\.place) == [17])
        #expect(try store.load().devices.count == 39)
        #expect(try store.audit().items.count == 39)
        #expect(store.checkHealth().transactions <= before + 2)
        #expect(store.checkHealth().failures == 1)
    }

    @Test("a queue that is full refuses at once and keeps what it took")
    func bounded() throws {
        let gate = Gate()
        let results = Results()
        let isHeld = store.hold(until: gate)
        isHeld.wait()
        for place in 0..<CommitQueue.capacity + 1 {
            store.submit(
                StoreCommit(change: .auditOnly, audit: [audit("x")]), completion: results.note(place))
        }
        results.wait(for: 1)
        let refused = results.all.withLock { $0 }
        #expect(refused.map(\.place) == [CommitQueue.capacity])
        #expect(refused.first?.result.error?.code == .overloaded)
        gate.signal()
        results.wait(for: CommitQueue.capacity + 1)
        #expect(try store.audit(limit: 10_000).items.count == CommitQueue.capacity)
    }

    @Test("a full file applies nothing, says so, and heals when there is room")
    func fullFile() throws {
        try store.apply(.pairDevice(device(1)))
        try store.limitGrowth(toPages: 1)
        let many = try (100..<1100).map { try device($0) }
        let error = failure { () throws(StoreError) in
            try store.apply(.importDevices(many, clearTombstones: []))
        }
        #expect(error?.code == .full)
        #expect(try store.load().devices == [device(1)])
        let health = store.checkHealth()
        #expect(!health.isWritable && health.lastError != nil)
        try store.limitGrowth(toPages: 1_000_000)
        try store.apply(.importDevices(many, clearTombstones: []))
        #expect(store.checkHealth().isWritable)
        #expect(try store.load().devices.count == 1001)
    }

    @Test("one commit too large for the disk does not take its neighbours with it")
    func neighbours() throws {
        let gate = Gate()
        let results = Results()
        try store.limitGrowth(toPages: 4)
        store.hold(until: gate)
        let many = try (100..<1100).map { try device($0) }
        store.submit(StoreCommit(change: .pairDevice(try device(1)), audit: []), completion: results.note(0))
        store.submit(
            StoreCommit(change: .importDevices(many, clearTombstones: []), audit: []),
            completion: results.note(1))
        store.submit(StoreCommit(change: .pairDevice(try device(2)), audit: []), completion: results.note(2))
        gate.signal()
        results.wait(for: 3)
        #expect(results.all.withLock { $0 }.map { $0.result.error?.code } == [nil, .full, nil])
        #expect(try store.load().devices.count == 2)
    }

    @Test(
        "a full disk loses nothing and recovers",
        .enabled(if: SmallDisk.isPossible, "needs root to mount a tmpfs"))
    func fullDisk() throws {
        let disk = try SmallDisk(megabytes: 1)
        defer { disk.unmount() }
        let store = try Store(path: disk.path + "/latchkey.db", create: true)
        try store.apply(.pairDevice(device(1)))
        let filler = disk.path + "/filler"
        #expect(FileManager.default.createFile(atPath: filler, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: filler))
        while (try? handle.write(contentsOf: Data(repeating: 1, count: 4096))) != nil {}
        try handle.close()
        let many = try (100..<900).map { try device($0) }
        let error = failure { () throws(StoreError) in
            try store.apply(.importDevices(many, clearTombstones: []))
        }
        #expect(error?.code == .full || error?.code == .io, "\(String(describing: error))")
        // Asking has it try again, and what is asked is whether a commit would fit: a row of a few bytes still does.
        for _ in 0..<3 {
            #expect(!store.checkHealth().isWritable)
            try store.onConnection { _ throws(StoreError) in }
        }
        #expect(try store.load().devices == [device(1)])
        try removeFile(filler)
        for _ in 0..<2 {
            _ = store.checkHealth()
            try store.onConnection { _ throws(StoreError) in }
        }
        #expect(store.checkHealth().isWritable)
        #expect(!FileManager.default.fileExists(atPath: disk.path + "/latchkey.db-room"))
        try store.apply(.pairDevice(device(2)))
        #expect(store.checkHealth().isWritable)
        store.close()
        #expect(try Store(path: disk.path + "/latchkey.db", create: false).load().devices.count == 2)
    }

    @Test("asking a failed store for its health has it try again")
    func probe() throws {
        let identity = StoredIdentity(
            fingerprint: try key(1), recognitionKey: Array(0..<32), createdAt: WallTime(milliseconds: 1))
        try store.commitIdentity(identity, audit: audit("identity.create"))
        try store.limitGrowth(toPages: 1)
        let many = try (100..<1100).map { try device($0) }
        let error = failure { () throws(StoreError) in
            try store.apply(.importDevices(many, clearTombstones: []))
        }
        #expect(error?.code == .full)
        #expect(!store.checkHealth().isWritable, "asking queues the probe, which needs no new page")
        // Behind the probe in the queue, and itself no news about the disk.
        try store.onConnection { _ throws(StoreError) in }
        #expect(store.checkHealth().isWritable)
    }
}

extension Store {
    /// Keeps the writer busy until `gate` is signalled; the answer is signalled once it is.
    @discardableResult
    func hold(until gate: Gate) -> Gate {
        let isHeld = Gate()
        enqueue(
            CommitJob(
                work: .custom { _ throws(StoreError) in
                    isHeld.signal()
                    gate.wait()
                }
            ) { _ in })
        return isHeld
    }

    /// Makes the file full once it has grown by so many pages.
    func limitGrowth(toPages count: Int64) throws(StoreError) {
        try onConnection { connection throws(StoreError) in
            let pages = try connection.int("PRAGMA page_count") ?? 0
            try connection.runScript("PRAGMA max_page_count = \(pages + count)")
        }
    }

    /// Runs on the writer's connection and, ending as a refused row does, leaves the store's health as it is.
    func onConnection(_ body: @escaping @Sendable (Connection) throws(StoreError) -> Void) throws(StoreError)
    {
        do throws(StoreError) {
            try wait(
                for: .custom { connection throws(StoreError) in
                    try body(connection)
                    throw StoreError(.constraint, "done")
                })
        } catch {
            guard error.code == .constraint else { throw error }
        }
    }
}

/// A tmpfs of a few megabytes.
final class SmallDisk: Sendable {
    let folder: TemporaryDirectory
    var path: String { folder.path }

    static let isPossible: Bool = {
        guard geteuid() == 0, let disk = try? SmallDisk(megabytes: 1) else { return false }
        disk.unmount()
        return true
    }()

    struct NotMounted: Error {}

    init(megabytes: Int) throws {
        folder = try TemporaryDirectory()
        guard Self.run("mount -t tmpfs -o size=\(megabytes)m,mode=0700 tmpfs \(folder.path)")
        else {
            throw NotMounted()
        }
    }

    func unmount() { _ = Self.run("umount -l \(path)") }

    /// By the C library: Foundation's `Process` may miss the end of a child that starts beside another.
    private static func run(_ command: String) -> Bool { unsafe system(command + " 2>/dev/null") == 0 }
}
