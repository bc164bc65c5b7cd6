// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import Wire

extension Socket {
    /// Connects to a TCP address.
    ///
    /// With `nonblocking` the connect may still be under way on return: wait until the socket is writable and ask
    /// ``connectError()``. Without, it has finished and the socket stays blocking. `from` pins this end.
    package static func tcpConnect(
        _ address: SocketAddress, from local: LocalEnd? = nil, nonblocking: Bool
    ) throws(SocketError) -> Socket {
        let made = try makeSocket(
            family: address.ip.family == .v6 ? AF_INET6 : AF_INET, nonblocking: nonblocking,
            call: "socket \(address)")
        if let local { try pin(made, to: local) }
        try connect(made, RawAddress(address), call: "connect \(address)")
        return made
    }

    /// Connects to a Unix path. Unix connects never stay under way: a full backlog throws with `isWouldBlock`.
    package static func unixConnect(path: String, nonblocking: Bool) throws(SocketError) -> Socket {
        guard let raw = RawAddress(path: path) else {
            throw SocketError(errno: ENAMETOOLONG, call: "connect \(path)")
        }
        let made = try makeSocket(family: AF_UNIX, nonblocking: nonblocking, call: "socket \(path)")
        try connect(made, raw, call: "connect \(path)")
        return made
    }

    /// Connects to a TCP address within `timeout`; the socket is nonblocking. Throws with `isTimedOut` after it, and when
    /// `stop` is raised.
    package static func tcpConnect(
        _ address: SocketAddress, from local: LocalEnd? = nil, timeout: Duration, stop: WakeUp? = nil
    ) throws(SocketError) -> Socket {
        let made = try tcpConnect(address, from: local, nonblocking: true)
        guard try made.wait(for: .writable, until: monotonicNow() + timeout, stop: stop) else {
            throw SocketError(errno: ETIMEDOUT, call: "connect \(address)")
        }
        let code = made.connectError()
        guard code == 0 else { throw SocketError(errno: code, call: "connect \(address)") }
        return made
    }

    static func connect(
        _ socket: borrowing Socket, _ raw: RawAddress, call: String
    ) throws(SocketError) {
        var raw = raw
        let descriptor = socket.descriptor
        do {
            _ = try syscall(call) { unsafe shim_connect(descriptor, &raw.storage, raw.length) }
        } catch  where error.errno == EINPROGRESS || error.errno == EISCONN {
            // Under way, or finished while a signal interrupted the first call.
        }
    }
}
