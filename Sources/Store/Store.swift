// SPDX-License-Identifier: Apache-2.0

internal import Migrations
package import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// Makes the signed form of "require pairing" from what is stored now (nil: nothing), or says why it cannot.
package typealias RequirePairingText = @Sendable (_ stored: String?) throws(StoreError) -> String

/// The database: one writer on a thread of its own, one reader behind a lock. A commit that was answered is on disk.
package final class Store: Sendable {
    /// Where the database is.
    package let path: String
    private let writer: Writer
    private let reader: Mutex<Connection?>
    private let thread: Mutex<WriterThread?>

    /// Opens a database, creating it when `create` says so and the file is not there, and brings it to this
    /// release's schema. `note` hears of a copy made before migrating.
    ///
    /// With `checksBeside` the file is read through for damage on the writer's thread; `load` waits for what it finds,
    /// and nothing is committed before. Otherwise that is done here.
    ///
    /// Throws an error whose `isUnusableFile` is true for a file that must not be used (spec 08: exit 78).
    package convenience init(
        path: String, create: Bool, checksBeside: Bool = false, note: (String) -> Void = { _ in }
    ) throws(StoreError) {
        try self.init(
            path: path, steps: Migrations.all, create: create, checksBeside: checksBeside, note: note)
    }

    /// As above, with the steps of another release.
    init(
        path: String, steps: [Migration], create: Bool = false, checksBeside: Bool = false,
        note: (String) -> Void = { _ in }
    ) throws(StoreError) {
        let file = DatabaseFile(path: path)
        if create { try file.create() }
        let writer = Writer(try file.open(steps, create: create, migrated: note), file)
        let reader = try file.openReader()
        let started = WriterThread {
            nameThisThread("store")
            writer.work()
        }
        guard let thread = started else {
            throw StoreError(.io, "start the store's thread: the system has none to give")
        }
        self.path = path
        self.writer = writer
        self.reader = Mutex(reader)
        self.thread = Mutex(thread)
        if !checksBeside {
            do throws(StoreError) {
                try writer.waitUntilChecked()
            } catch {
                close()
                throw error
            }
        }
    }

    /// The settings of a database that nobody needs to be serving, as they are stored; nothing is locked, brought to
    /// another schema or written. What this release does not know is among them.
    package static func settings(path: String) throws(StoreError) -> [String: String] {
        let connection = try Connection(path: path, access: .readOnly)
        var settings: [String: String] = [:]
        try connection.forEachRow("SELECT key, value FROM settings") { row in
            settings[row.text(0)] = row.text(1)
            return true
        }
        return settings
    }

    deinit { close() }

    /// Writes what is there already, and waits until it is on disk. Throws when the store cannot be written; returning,
    /// nothing of a commit that failed before can come back after a power loss.
    package func proveWritable() throws(StoreError) { try wait(for: .probe) }

    /// Queues a commit for the writer and returns at once. `completion` is called exactly once, on the writer's
    /// thread (on one of its own when the queue is full or closed), never inside this call: success means committed and
    /// synced to disk, failure means nothing of it was applied. Commits are done in the order they were queued.
    ///
    /// `requirePairing` makes the text to store for that setting (spec 03 section 4.2), on the writer's thread; when it
    /// throws, nothing of the commit is applied.
    package func submit(
        _ commit: StoreCommit, requirePairing: RequirePairingText? = nil,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        enqueue(CommitJob(work: .commit(commit, requirePairing: requirePairing), completion: completion))
    }

    /// Commits and waits. For the command line with the service down, and for first start.
    package func perform(_ commit: StoreCommit, requirePairing: RequirePairingText? = nil) throws(StoreError)
    {
        try wait(for: .commit(commit, requirePairing: requirePairing))
    }

    /// Commits the identity of a first start; refused when there is one.
    package func commitIdentity(_ identity: StoredIdentity, audit: AuditRow) throws(StoreError) {
        try wait(
            for: .custom { connection throws(StoreError) in
                try connection.run(
                    "INSERT INTO identity (only, fingerprint, recognition_key, created_at) VALUES (1, ?, ?, ?)",
                    [.key(identity.fingerprint), .blob(identity.recognitionKey), .time(identity.createdAt)])
                try connection.apply(StoreCommit(change: .auditOnly, audit: [audit]), requirePairing: nil)
            })
    }

    /// Everything a start needs. A hundred thousand devices take about a tenth of a second.
    package func load() throws(StoreError) -> StoredState {
        let state: StoredState
        do throws(StoreError) {
            state = try read { connection throws(StoreError) in
                var state = try connection.loadState()
                state.devices = try ParallelLoad.devices(connection, path: path)
                return state
            }
        } catch {
            // What the check found names the cause better than the row that failed.
            try writer.waitUntilChecked()
            throw error
        }
        try writer.waitUntilChecked()
        return state
    }

    /// Whose database it is; nil before the first start has committed one.
    package func identity() throws(StoreError) -> StoredIdentity? {
        try read { connection throws(StoreError) in try connection.loadIdentity() }
    }

    /// One page of devices. `filter` keeps names that contain it in any case; `after` is a page's `next`.
    ///
    /// Throws `.badCursor` for an `after` that is not from a list of this order.
    package func devices(
        sort: DeviceSort = .name, filter: String? = nil, after: String? = nil, limit: Int = 100
    ) throws(StoreError) -> Page<DeviceRecord> {
        var cursor: DeviceCursor?
        if let after {
            cursor = DeviceCursor(after, sort: sort)
            guard cursor != nil else {
                throw StoreError(.badCursor, "`after` is not a position in this list")
            }
        }
        let start = cursor
        return try read { connection throws(StoreError) in
            try connection.devices(sort: sort, filter: filter, after: start, limit: limit)
        }
    }

    /// One page of audit rows, newest first; `after` is a page's `next`. Throws `.badCursor` as `devices` does.
    package func audit(after: String? = nil, limit: Int = 100) throws(StoreError) -> Page<StoredAudit> {
        var before: Int64?
        if let after {
            before = Connection.auditPosition(after)
            guard before != nil else {
                throw StoreError(.badCursor, "`after` is not a position in this list")
            }
        }
        let start = before
        return try read { connection throws(StoreError) in try connection.audit(before: start, limit: limit) }
    }

    /// Removes a database that never held an identity, with its companions.
    package static func removeUncommitted(path: String) throws(StoreError) {
        try DatabaseFile(path: path).remove()
    }

    /// Whether the last commit reached the disk. After a failure, asking also has the writer try again, so that the
    /// answer heals by itself once there is room.
    package func checkHealth() -> StoreHealth {
        let (now, shouldProbe) = writer.health.withLock { health in
            let shouldProbe = !health.isWritable && !health.isProbing
            if shouldProbe { health.isProbing = true }
            return (health, shouldProbe)
        }
        if shouldProbe {
            let writer = writer
            enqueue(CommitJob(work: .probeWithRoom) { _ in writer.health.withLock { $0.isProbing = false } })
        }
        return now
    }

    /// Does what is queued, then ends the writer's thread and closes the file, its write-ahead log folded in. What
    /// comes later fails with `.closed`. Idempotent.
    package func close() {
        writer.queue.close()
        let running = thread.withLock { thread in
            let running = thread
            thread = nil
            return running
        }
        guard let running else { return }
        running.join()
        // The writer's connection last: a read-only one cannot fold the log.
        reader.withLock { $0 = nil }
        writer.closeFile()
    }

    private static var closed: StoreError { StoreError(.closed, "the store is closed") }

    func enqueue(_ job: CommitJob) {
        guard let refusal = writer.queue.add(job) else { return }
        // Not from here: callers may hold the lock that their completion takes.
        WriterThread { job.completion(.failure(refusal)) }?.detach()
    }

    func wait(for work: CommitJob.Work) throws(StoreError) {
        let done = Gate()
        let box = Outcome()
        enqueue(
            CommitJob(work: work) { result in
                box.value.withLock { $0 = result }
                done.signal()
            })
        while true {
            if let result = box.value.withLock({ $0 }) { return try result.get() }
            done.wait()
        }
    }

    private func read<R: Sendable>(
        _ body: (Connection) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        do throws(StoreError) {
            return try reader.withLock { connection throws(StoreError) in
                guard let connection else { throw Self.closed }
                return try body(connection)
            }
        } catch {
            throw error.code == .badCursor ? error : DatabaseFile(path: path).explain(error)
        }
    }
}

/// Where a waiting caller finds its commit's result.
private final class Outcome: Sendable {
    let value = Mutex<Result<Void, StoreError>?>(nil)
}
