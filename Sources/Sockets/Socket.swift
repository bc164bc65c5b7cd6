// SPDX-License-Identifier: Apache-2.0

package import Bytes
internal import CLinux
internal import Glibc
package import Wire

/// One stream socket. Closed when it ends; never copied, so never closed twice.
package struct Socket: ~Copyable, Sendable {
    /// The kernel's number, for an event loop to watch; it stays this socket's.
    package let descriptor: Int32

    /// Takes over a descriptor that nobody else will close.
    package init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { _ = close(descriptor) }

    /// Gives the descriptor away; the caller closes it.
    package consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// The address this end is bound to; nil for a Unix socket.
    package borrowing func localAddress() -> SocketAddress? {
        var raw = RawAddress()
        guard unsafe shim_getsockname(descriptor, &raw.storage, &raw.length) == 0 else { return nil }
        return raw.socketAddress()
    }

    /// The address of the other end; nil for a Unix socket and for one that is not connected.
    package borrowing func peerAddress() -> SocketAddress? {
        var raw = RawAddress()
        guard unsafe shim_getpeername(descriptor, &raw.storage, &raw.length) == 0 else { return nil }
        return raw.socketAddress()
    }

    /// Reads at most `max` bytes to the end of `buffer`.
    ///
    /// Returns how many, 0 at the end of the stream, nil when nothing is there now.
    package borrowing func read(into buffer: ByteBuffer, max: Int) throws(SocketError) -> Int? {
        var code: Int32 = 0
        var result = 0
        repeat {
            unsafe buffer.withWritable(reserving: max) { room in
                result = unsafe recv(descriptor, room.baseAddress, min(max, room.count), 0)
                code = result < 0 ? errno : 0
                return Swift.max(0, result)
            }
        } while code == EINTR
        if result >= 0 { return result }
        if code == EAGAIN { return nil }
        throw SocketError(errno: code, call: "read")
    }

    /// Writes as much of `buffer` as the kernel takes now, and consumes it.
    ///
    /// Returns how much, nil when nothing could be taken now. Never raises SIGPIPE.
    package borrowing func write(from buffer: ByteBuffer) throws(SocketError) -> Int? {
        guard !buffer.isEmpty else { return 0 }
        var code: Int32 = 0
        var result = 0
        repeat {
            result = unsafe buffer.withReadable { bytes in
                let sent = unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                code = sent < 0 ? errno : 0
                return sent
            }
        } while code == EINTR
        if result >= 0 {
            buffer.consume(result)
            return result
        }
        if code == EAGAIN { return nil }
        throw SocketError(errno: code, call: "write")
    }

    /// Ends this side's stream (FIN); the other direction goes on.
    package borrowing func shutdownWrite() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends a listener: its address is free for others at once, and whoever still watches the descriptor sees an error.
    package borrowing func shutdownListener() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// How a connect that was under way ended: 0 or the error number. Reading it clears it.
    package borrowing func connectError() -> Int32 { getOption(descriptor, SOL_SOCKET, SO_ERROR) ?? 0 }

    /// Bytes that have come and were not read (`FIONREAD`); 0 when the kernel does not say.
    package borrowing func bytesReady() -> Int { max(0, Int(shim_bytes_ready(descriptor))) }

    /// Bytes of a TCP socket that the kernel has taken and not sent (`SIOCOUTQNSD`); 0 when it does not say.
    package borrowing func unsentBytes() -> Int { max(0, Int(shim_unsent_bytes(descriptor))) }

    /// Makes the close send a reset instead of a FIN, dropping what is unsent: for a session that is cut.
    package borrowing func resetOnClose() {
        var value = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }
}

/// Makes one socket of a family, close-on-exec; `nonblocking` as wanted.
func makeSocket(family: Int32, nonblocking: Bool, call: String) throws(SocketError) -> Socket {
    var kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    if nonblocking { kind |= Int32(SOCK_NONBLOCK.rawValue) }
    let descriptor = try syscall(call) { socket(family, kind, 0) }
    return Socket(adopting: descriptor)
}

/// Sets one integer option. Options are wishes: a kernel without one serves connections all the same.
@discardableResult
func setOption(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) -> Bool {
    var value = value
    return unsafe setsockopt(
        descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
}

/// Reads one integer option; nil when the kernel does not know it.
func getOption(_ descriptor: Int32, _ level: Int32, _ option: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return unsafe getsockopt(descriptor, level, option, &value, &length) == 0 ? value : nil
}
