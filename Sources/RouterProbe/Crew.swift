// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Sockets
internal import Synchronization

/// Threads that work side by side for one caller, who waits for their results and never leaves one behind.
final class Crew<Result: Sendable>: Sendable {
    private let threads = Mutex<[JoinHandle]>([])
    private let results = Mutex<[Result]>([])
    private let came: WakeUp

    init() throws(SocketError) { came = try WakeUp() }

    /// For a wait beside others: readable while results wait.
    var descriptor: Int32 { came.descriptor }

    /// Runs `body` on a thread of its own; when there is none to be had, on the calling one.
    func start(_ name: String, _ body: @escaping @Sendable () -> Result) {
        let work: @Sendable () -> Void = { [self] in
            let result = body()
            results.withLock { $0.append(result) }
            came.signal()
        }
        do throws(SocketError) {
            let thread = try runThread(name: name, work)
            threads.withLock { $0.append(thread) }
        } catch {
            work()
        }
    }

    /// The results that came since the last call, in their order.
    func take() -> [Result] {
        came.clear()
        return results.withLock { results in
            let taken = results
            results = []
            return taken
        }
    }

    /// Waits until all have ended.
    func join() {
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
