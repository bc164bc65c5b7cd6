// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Sockets

/// The rtnetlink socket that is told of changes. What they say is not looked at: any of them means "read again", which
/// is also the only answer to a lost one (`ENOBUFS`).
struct ChangeSocket: ~Copyable {
    private let socket: Socket

    /// RTNLGRP_LINK, IPV4_IFADDR, IPV4_ROUTE, IPV4_RULE, IPV6_IFADDR, IPV6_ROUTE, IPV6_RULE.
    private static let groups: [UInt32] = [1, 5, 7, 8, 9, 11, 19]

    init() throws(SocketError) {
        let socket = try openRouteSocket(isNonblocking: true)
        shim_netlink_limits(socket.descriptor)
        let mask = Self.groups.reduce(UInt32(0)) { $0 | 1 << ($1 - 1) }
        guard shim_netlink_bind(socket.descriptor, mask) == 0 else {
            throw SocketError(errno: errno, call: "rtnetlink bind")
        }
        self.socket = socket
    }

    /// Waits until something changed (true) or `stop` is raised (false); takes all there is, so that a burst is one
    /// change. With a `limit` in milliseconds it also returns true when that has passed.
    func wait(orUntil stop: WakeUp, limit: Int32?) -> Bool {
        var watched = [
            pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&watched, 2, limit ?? -1)
            if count < 0 && errno == EINTR { continue }
            if watched[1].revents != 0 { return false }
            drain()
            return true
        }
    }

    private func drain() {
        var scratch = [UInt8](repeating: 0, count: 16 * 1024)
        var isKernel: Int32 = 0
        // Bounded, so that a flood cannot keep the reader from reading.
        for _ in 0..<1024 {
            let count = unsafe scratch.withUnsafeMutableBytes { bytes in
                unsafe shim_netlink_receive(socket.descriptor, bytes.baseAddress, bytes.count, &isKernel)
            }
            // After ENOBUFS what is queued can still be taken.
            if count < 0 && errno != ENOBUFS && errno != EINTR { return }
        }
    }
}
