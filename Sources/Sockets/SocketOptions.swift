// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The options of every door connection: no Nagle, keepalive after 5 s idle, every 2 s, 3 probes (spec 01 section 4.2).
///
/// `userTimeout`: how long unacknowledged data may stand before the kernel drops the connection; the remote door's 15 s.
package func applyDoorOptions(_ socket: borrowing Socket, userTimeout: Duration?) {
    let descriptor = socket.descriptor
    let tcp = Int32(IPPROTO_TCP)
    setOption(descriptor, tcp, TCP_NODELAY, 1)
    setOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    setOption(descriptor, tcp, TCP_KEEPIDLE, 5)
    setOption(descriptor, tcp, TCP_KEEPINTVL, 2)
    setOption(descriptor, tcp, TCP_KEEPCNT, 3)
    if let userTimeout {
        let parts = userTimeout.components
        setOption(
            descriptor, tcp, TCP_USER_TIMEOUT,
            Int32(clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000))
    }
}

/// Keeps the kernel's own store of unsent bytes small (`TCP_NOTSENT_LOWAT`), so that it does not hide a slow link; what
/// is over waits where it can be seen (spec 06 C2).
package func limitUnsent(_ socket: borrowing Socket, bytes: Int32) {
    // Not in Glibc's header of the oldest system we build on: 25, from <linux/tcp.h>.
    setOption(socket.descriptor, Int32(IPPROTO_TCP), 25, bytes)
}

/// Turns Nagle's waiting off, for a loopback connection to a backend.
package func disableNagle(_ socket: borrowing Socket) {
    setOption(socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
}

/// Makes a descriptor that came from outside (the service manager) nonblocking and close-on-exec.
package func prepareInherited(_ socket: borrowing Socket) {
    let descriptor = socket.descriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, fcntl(descriptor, F_GETFD) | FD_CLOEXEC)
    setOption(descriptor, Int32(IPPROTO_IP), IP_PKTINFO, 1)
    setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_RECVPKTINFO, 1)
}

/// Who is at the other end of a connected Unix socket, as the kernel knows it; nil when it is no Unix socket.
package func peerCredentials(_ fd: Int32) -> (uid: UInt32, gid: UInt32, pid: Int32)? {
    var found = shim_credentials()
    var length = socklen_t(MemoryLayout<shim_credentials>.size)
    guard unsafe getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &length) == 0,
        length == socklen_t(MemoryLayout<shim_credentials>.size), found.pid != 0
    else { return nil }
    return (found.uid, found.gid, found.pid)
}
