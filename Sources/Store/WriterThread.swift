// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thread of the store's own: a slow disk must hold neither a loop nor the cooperative pool.
@safe struct WriterThread: Sendable {
    private let handle: pthread_t

    /// Starts `body` on a new thread; nil when the system has none to give.
    init?(_ body: @escaping @Sendable () -> Void) {
        let box = unsafe Unmanaged.passRetained(Body(body))
        var handle = pthread_t()
        // The mask is inherited: signals are for the main thread.
        var all = sigset_t()
        var old = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
        let code = unsafe pthread_create(&handle, nil, { unsafe runBody($0) }, box.toOpaque())
        unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
        guard code == 0 else {
            unsafe box.release()
            return nil
        }
        self.handle = handle
    }

    /// Lets the thread end by itself. Instead of `join`.
    func detach() { _ = pthread_detach(handle) }

    /// Waits for the thread's end. Once.
    func join() { _ = pthread_join(handle, nil) }
}

private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
