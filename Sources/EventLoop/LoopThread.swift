// SPDX-License-Identifier: Apache-2.0

package import Sockets
internal import Synchronization

/// Calls `body` on a new thread with a loop that takes over `mailbox`; by default it serves until ``Mailbox/stop()``.
/// `name` shows in `top` and debuggers (15 bytes at most).
///
/// Returns once the loop is there. Throws when the system has no thread or descriptor left; then `body` is never called.
package func runLoop(
    name: String, _ mailbox: Mailbox, _ body: @escaping @Sendable (EventLoop) -> Void = { $0.run() }
) throws(SocketError) -> JoinHandle {
    final class Start: Sendable {
        let problem = Mutex<SocketError?>(nil)
        let isKnown: WakeUp
        init() throws(SocketError) { isKnown = try WakeUp() }
    }
    let start = try Start()
    let thread = try runThread(name: name) {
        let loop: EventLoop
        do throws(SocketError) { loop = try EventLoop(mailbox: mailbox) } catch {
            start.problem.withLock { $0 = error }
            return start.isKnown.signal()
        }
        start.isKnown.signal()
        body(loop)
    }
    _ = start.isKnown.wait(until: nil)
    guard let problem = start.problem.withLock({ $0 }) else { return thread }
    thread.join()
    throw problem
}
