// SPDX-License-Identifier: Apache-2.0

internal import CEvent

/// A one-shot timer. Ends, and never fires, with its last reference.
@safe package final class Timer {
    private var event: OpaquePointer?  // struct event *, ours; nil only when memory had run out
    private let handler: () -> Void

    /// Whether it will still fire.
    package private(set) var isPending = false

    init(base: OpaquePointer, handler: @escaping () -> Void) {
        self.handler = handler
        unsafe event = event_new(
            base, -1, 0,
            { _, _, context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<Timer>.fromOpaque(context).takeUnretainedValue().fire()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { if let event = unsafe event { unsafe event_free(event) } }

    /// Starts, or starts anew, counting `delay` from now.
    package func start(after delay: Duration) {
        guard let event = unsafe event else { return }
        let parts = max(.zero, delay).components
        var time = timeval(
            tv_sec: Int(clamping: parts.seconds), tv_usec: Int(parts.attoseconds / 1_000_000_000_000))
        unsafe event_add(event, &time)
        isPending = true
    }

    /// Does not fire any more; it may be started again.
    package func cancel() {
        isPending = false
        if let event = unsafe event { unsafe event_del(event) }
    }

    private func fire() {
        isPending = false
        handler()
    }
}
