// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Wire

/// What a blocking caller waits for.
package enum Readiness: Sendable { case readable, writable, either }

extension Socket {
    /// Waits until the socket is ready, `deadline` (nil: for ever), or `stop` is raised; whether it is ready.
    ///
    /// A hang-up or an error counts as ready: the next read or write says what it is. For callers that own their
    /// thread (command line, device library); never on an event loop.
    package borrowing func wait(
        for readiness: Readiness, until deadline: MonotonicTime?, stop: WakeUp? = nil
    ) throws(SocketError) -> Bool {
        let events: Int32 =
            switch readiness {
            case .readable: POLLIN
            case .writable: POLLOUT
            case .either: POLLIN | POLLOUT
            }
        var requests = [
            pollfd(fd: descriptor, events: Int16(events), revents: 0),
            // A negative descriptor is passed over.
            pollfd(fd: stop?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        guard try poll(&requests, until: deadline) else { return false }
        return requests[0].revents != 0 && requests[1].revents == 0
    }
}

/// Waits until something can be read from any of the descriptors, or `deadline` (nil: for ever); which of them.
///
/// For callers that own their thread; never on an event loop. A hang-up or an error counts as readable.
package func waitReadable(
    _ descriptors: [Int32], until deadline: MonotonicTime?
) throws(SocketError) -> [Bool] {
    var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = try poll(&requests, until: deadline)
    return requests.map { $0.revents != 0 }
}

private func poll(_ requests: inout [pollfd], until deadline: MonotonicTime?) throws(SocketError) -> Bool {
    while true {
        var milliseconds: Int32 = -1
        if let deadline {
            // Rounded up, or the last fraction of a millisecond would spin.
            let left = (deadline - monotonicNow()).seconds
            milliseconds = Int32(min(max(0, (left * 1000).rounded(.up)), 86_400_000))
        }
        let ready = unsafe Glibc.poll(&requests, nfds_t(requests.count), milliseconds)
        if ready > 0 { return true }
        if ready == 0 { return false }
        let code = errno
        if code != EINTR { throw SocketError(errno: code, call: "poll") }
    }
}
