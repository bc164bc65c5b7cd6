// SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Synchronization
internal import Wire

/// The writer's side of the store: its connection, its queue and how it has fared. Held by the thread, so it does not
/// keep the store itself alive.
final class Writer: Sendable {
    let queue = CommitQueue()
    let health = Mutex(StoreHealth())
    /// nil once closed.
    private let connection: Mutex<Connection?>
    private let file: DatabaseFile
    private let verdict = Mutex<Result<Void, StoreError>?>(nil)
    private let isJudged = Gate()

    init(_ connection: sending Connection, _ file: DatabaseFile) {
        self.connection = Mutex(connection)
        self.file = file
    }

    /// Reads the whole file through, so that it can be loaded by others meanwhile; then works until the queue is closed
    /// and empty. A damaged file gets no commit.
    func work() {
        let result = connection.withLock { connection -> Result<Void, StoreError> in
            guard let connection else { return .success(()) }
            do throws(StoreError) { return .success(try file.checkWhole(connection)) } catch {
                return .failure(error)
            }
        }
        verdict.withLock { $0 = result }
        isJudged.signal()
        while true {
            let jobs = queue.takeAll()
            if jobs.isEmpty { return }
            run(jobs)
        }
    }

    /// Waits until the file was read through; throws what was found.
    func waitUntilChecked() throws(StoreError) {
        while true {
            if let verdict = verdict.withLock({ $0 }) {
                // For others who wait.
                isJudged.signal()
                return try verdict.get()
            }
            isJudged.wait()
        }
    }

    /// After `work` has ended.
    func closeFile() { connection.withLock { $0 = nil } }

    /// Runs all jobs in as few transactions as is safe and calls every completion, in order, exactly once.
    ///
    /// Together they cost one sync of the disk. Each has its savepoint, so one the schema refuses takes back only
    /// itself. When the transaction fails as a whole, each is tried alone: a small one may fit where all did not.
    private func run(_ jobs: [CommitJob]) {
        let start = monotonicNow()
        if let damage = verdict.withLock({ $0?.error }) {
            health.withLock { $0.note(jobs.map { _ in .failure(damage) }, took: .zero) }
            for job in jobs { job.completion(.failure(damage)) }
            return
        }
        var results = connection.withLock { attempt(jobs, on: $0) }
        if jobs.count > 1, results.allSatisfy({ $0.error != nil }) {
            results = jobs.flatMap { job in connection.withLock { attempt([job], on: $0) } }
        }
        let took = monotonicNow() - start
        health.withLock { $0.note(results, took: took) }
        for (job, result) in zip(jobs, results) { job.completion(result) }
    }

    /// One transaction; one result for each job.
    private func attempt(_ jobs: [CommitJob], on connection: Connection?) -> [Result<Void, StoreError>] {
        guard let connection else {
            return jobs.map { _ in .failure(StoreError(.closed, "the store is closed")) }
        }
        var results: [Result<Void, StoreError>] = []
        do throws(StoreError) {
            try connection.run("BEGIN IMMEDIATE")
            for job in jobs {
                results.append(try perform(job, on: connection, alone: jobs.count == 1))
            }
            try connection.run("COMMIT")
            return results
        } catch {
            connection.rollBack()
            return jobs.map { _ in .failure(error) }
        }
    }

    /// Throws when the transaction as a whole is lost; a failure in the result is this job's alone.
    private func perform(
        _ job: CommitJob, on connection: Connection, alone: Bool
    ) throws(StoreError) -> Result<Void, StoreError> {
        if alone {
            try write(job, on: connection)
            return .success(())
        }
        try connection.run("SAVEPOINT one")
        do throws(StoreError) {
            try write(job, on: connection)
            try connection.run("RELEASE one")
            return .success(())
        } catch {
            guard error.isOneCommitsOwn, connection.isInTransaction else { throw error }
            try connection.run("ROLLBACK TO one")
            try connection.run("RELEASE one")
            return .failure(error)
        }
    }

    private func write(_ job: CommitJob, on connection: Connection) throws(StoreError) {
        switch job.work {
        case .commit(let commit, let requirePairing):
            var text: String?
            if let requirePairing { text = try requirePairing(try connection.storedRequirePairing()) }
            try connection.apply(commit, requirePairing: text)
        case .probe: try connection.run("UPDATE identity SET created_at = created_at")
        case .probeWithRoom:
            // The row alone fits into what the log has already, however full the disk is.
            try file.proveRoom()
            try connection.run("UPDATE identity SET created_at = created_at")
        case .custom(let body): try body(connection)
        }
    }
}

extension Result {
    /// nil for success.
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
