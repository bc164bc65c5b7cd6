// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Wire

/// What a blocking caller waits for.
package enum Readiness: Sendable { case readable, writable, either }

extension Socket {
    /// Waits until the socket is ready, or `deadline` (nil: for ever); whether it is.
    ///
    /// A hang-up or an error counts as ready: the next read or write says what it is. For callers that own their
    /// thread (command line, device library); never on an event loop.
    package borrowing func wait(
        for readiness: Readiness, until deadline: MonotonicTime?
    ) throws(SocketError) -> Bool {
        let events: Int32 =
            switch readiness {
            case .readable: POLLIN
            case .writable: POLLOUT
            case .either: POLLIN | POLLOUT
            }
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                // Rounded up, or the last fraction of a millisecond would spin.
                let left = (deadline - monotonicNow()).seconds
                milliseconds = Int32(min(max(0, (left * 1000).rounded(.up)), 86_400_000))
            }
            let ready = unsafe poll(&request, 1, milliseconds)
            if ready > 0 { return true }
            if ready == 0 { return false }
            let code = errno
            if code != EINTR { throw SocketError(errno: code, call: "poll") }
        }
    }
}
