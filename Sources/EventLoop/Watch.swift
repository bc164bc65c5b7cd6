// SPDX-License-Identifier: Apache-2.0

internal import CEvent

/// One descriptor's place in the loop. Ends, and is never called again, with its last reference.
@safe package final class Watch {
    private let base: OpaquePointer
    private let descriptor: Int32
    private let handler: (IOEvents) -> Void
    // One event for each direction, made when first wanted, so that turning one on or off leaves the other alone.
    private var reading: OpaquePointer?
    private var writing: OpaquePointer?

    /// Whether the handler is called for readable.
    package private(set) var isReading = false
    /// Whether the handler is called for writable.
    package private(set) var isWriting = false

    init(base: OpaquePointer, descriptor: Int32, handler: @escaping (IOEvents) -> Void) {
        unsafe self.base = base
        self.descriptor = descriptor
        self.handler = handler
    }

    deinit {
        // event_free also takes a pending event out of the loop.
        if let reading = unsafe reading { unsafe event_free(reading) }
        if let writing = unsafe writing { unsafe event_free(writing) }
    }

    /// What the handler is called for from now on. Cheap when nothing changes.
    package func set(readable: Bool, writable: Bool) {
        if readable != isReading {
            isReading = readable
            unsafe turn(readable, &reading, Int16(EV_READ | EV_PERSIST))
        }
        if writable != isWriting {
            isWriting = writable
            unsafe turn(writable, &writing, Int16(EV_WRITE | EV_PERSIST))
        }
    }

    private func turn(_ on: Bool, _ event: inout OpaquePointer?, _ what: Int16) {
        if unsafe event == nil {
            unsafe event = event_new(
                base, descriptor, what,
                { _, what, context in
                    guard let context = unsafe context else { return }
                    unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue().fire(what)
                }, Unmanaged.passUnretained(self).toOpaque())
        }
        guard let event = unsafe event else { return }
        if on { unsafe event_add(event, nil) } else { unsafe event_del(event) }
    }

    private func fire(_ what: Int16) {
        handler(Int32(what) & EV_READ != 0 ? .readable : .writable)
    }
}
