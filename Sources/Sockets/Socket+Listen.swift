// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import Wire

extension Socket {
    /// A TCP listener: nonblocking, close-on-exec, `SO_REUSEADDR`, never `SO_REUSEPORT` (spec 03 section 2.2: it would
    /// let two processes share the fixed port without either noticing).
    ///
    /// Accepted connections know the interface they came by (spec 03 section 3.3). `v6Only` keeps an IPv6 socket from
    /// taking IPv4 connections too. Throws with `isAddressInUse` when the port is taken, `isFamilyMissing` on a machine
    /// without this family.
    package static func tcpListener(
        _ address: SocketAddress, v6Only: Bool, backlog: Int32 = 1024
    ) throws(SocketError) -> Socket {
        let made = try boundTCP(address, v6Only: v6Only)
        _ = try syscall("listen \(address)") { listen(made.descriptor, backlog) }
        return made
    }

    /// Whether another program holds the TCP port on this machine: by a bind that is let go at once, without listening.
    package static func isTaken(tcpPort port: UInt16) -> Bool {
        for ip in [IPAddress("0.0.0.0"), IPAddress("::")].compactMap({ $0 }) {
            do throws(SocketError) {
                _ = try boundTCP(SocketAddress(ip: ip, port: port), v6Only: true)
            } catch {
                if error.isAddressInUse { return true }
            }
        }
        return false
    }

    private static func boundTCP(_ address: SocketAddress, v6Only: Bool) throws(SocketError) -> Socket {
        let isV6 = address.ip.family == .v6
        let made = try makeSocket(
            family: isV6 ? AF_INET6 : AF_INET, nonblocking: true, call: "socket \(address)")
        setOption(made.descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if isV6 {
            setOption(made.descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, v6Only ? 1 : 0)
            setOption(made.descriptor, Int32(IPPROTO_IPV6), IPV6_RECVPKTINFO, 1)
        }
        if !isV6 || !v6Only { setOption(made.descriptor, Int32(IPPROTO_IP), IP_PKTINFO, 1) }
        var raw = RawAddress(address)
        _ = try syscall("bind \(address)") { unsafe shim_bind(made.descriptor, &raw.storage, raw.length) }
        return made
    }

    /// A listener at a Unix path with file mode `mode`: nonblocking, close-on-exec.
    ///
    /// A socket file that nobody listens on is replaced. One that somebody listens on throws with `isAddressInUse`, a
    /// file, directory or link in its place with `isPresent`: that is no program to be stopped.
    package static func unixListener(path: String, mode: UInt32) throws(SocketError) -> Socket {
        guard var raw = RawAddress(path: path) else {
            throw SocketError(errno: ENAMETOOLONG, call: "bind \(path)")
        }
        if let facts = fileFacts(path) {
            guard facts.isSocket else { throw SocketError(errno: EEXIST, call: "bind \(path)") }
            guard !isAlive(path) else {
                throw SocketError(errno: EADDRINUSE, call: "bind \(path)")
            }
            try removeFile(path)
        }
        let made = try makeSocket(family: AF_UNIX, nonblocking: true, call: "socket \(path)")
        // The mode must hold from the first moment: between bind and chmod anyone could connect. Before listen nobody
        // can, so bind, chmod, listen is closed at every step.
        _ = try syscall("bind \(path)") { unsafe shim_bind(made.descriptor, &raw.storage, raw.length) }
        _ = try syscall("chmod \(path)") { unsafe chmod(path, mode) }
        _ = try syscall("listen \(path)") { listen(made.descriptor, 128) }
        return made
    }

    private static func isAlive(_ path: String) -> Bool {
        do {
            _ = try unixConnect(path: path, nonblocking: true)
            return true
        } catch {
            // Full backlog (EAGAIN) means somebody is there; so does anything else that is not a plain refusal.
            return !error.isRefused
        }
    }
}
