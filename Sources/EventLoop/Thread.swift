// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Sockets
internal import Synchronization

/// A thread that runs.
package final class JoinHandle: Sendable {
    private let thread: Mutex<pthread_t?>

    fileprivate init(_ thread: pthread_t) { self.thread = Mutex(thread) }

    /// Nobody will join it any more: the system takes its memory back when it ends.
    deinit {
        if let left = thread.withLock({ $0 }) { _ = pthread_detach(left) }
    }

    /// Waits for its end. The second call, and one from the thread itself, returns at once.
    package func join() {
        let taken = thread.withLock { thread in
            let taken = thread
            thread = nil
            return taken
        }
        guard let taken else { return }
        if pthread_equal(taken, pthread_self()) == 0 {
            pthread_join(taken, nil)
        } else {
            _ = pthread_detach(taken)
        }
    }
}

/// Runs `body` on a new thread. `name` shows in `top` and debuggers (15 bytes at most).
///
/// The thread takes no signals: those are for the main thread. Throws when the system has no thread left.
package func runThread(
    name: String, _ body: @escaping @Sendable () -> Void
) throws(SocketError) -> JoinHandle {
    final class Box {
        let name: String
        let body: @Sendable () -> Void
        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
    let box = unsafe Unmanaged.passRetained(Box(name, body))
    var thread = pthread_t()
    // The mask is inherited, so that not even the first moment can take a signal.
    var all = sigset_t()
    var old = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    let code = unsafe pthread_create(
        &thread, nil,
        { context in
            guard let context = unsafe context else { return nil }
            let box = unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
            nameThisThread(box.name)
            box.body()
            return nil
        }, box.toOpaque())
    unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
    guard code == 0 else {
        unsafe box.release()
        throw SocketError(errno: code, call: "pthread_create \(name)")
    }
    return JoinHandle(thread)
}
