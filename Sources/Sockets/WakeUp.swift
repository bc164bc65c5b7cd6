// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import Wire

/// A flag one thread raises and another waits for, as a descriptor (eventfd), so that a loop can watch it too.
package final class WakeUp: Sendable {
    private let file: Socket

    package init() throws(SocketError) {
        let descriptor = shim_eventfd()
        guard descriptor >= 0 else { throw SocketError(errno: errno, call: "eventfd") }
        file = Socket(adopting: descriptor)
    }

    /// For a loop to watch.
    package var descriptor: Int32 { file.descriptor }

    /// Raises the flag. Any thread, any number of times.
    package func signal() {
        var one: UInt64 = 1
        // Only fails when the counter is full, and then the flag is up anyway.
        _ = unsafe write(file.descriptor, &one, 8)
    }

    /// Lowers the flag.
    package func clear() {
        var value: UInt64 = 0
        _ = unsafe read(file.descriptor, &value, 8)
    }

    /// Waits until the flag is up, or `deadline` (nil: for ever); whether it is. Leaves it up.
    package func wait(until deadline: MonotonicTime?) -> Bool {
        do { return try file.wait(for: .readable, until: deadline) } catch { return false }
    }
}

/// Names the calling thread for `top` and debuggers; 15 bytes are kept.
package func nameThisThread(_ name: String) { unsafe shim_name_this_thread(String(name.prefix(15))) }
