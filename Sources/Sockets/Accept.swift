// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import Wire

/// A connection fresh from a listener.
package struct Accepted: ~Copyable, Sendable {
    /// Nonblocking and close-on-exec.
    package var socket: Socket
    /// Who dialled.
    package let peer: SocketAddress
    /// Which address of this machine they dialled.
    package let local: SocketAddress
    /// The interface the kernel received it on (spec 03 section 3.3 step 2); nil when the kernel does not say.
    package let arrivalIndex: UInt32?

    /// The socket alone, for a caller that has read the rest.
    package consuming func intoSocket() -> Socket { socket }
}

/// Takes the next connection from a TCP listener; nil when none waits.
///
/// A connection that died in the queue is passed over. Throws with `isExhausted` when descriptors have run out.
package func accept(on listener: borrowing Socket) throws(SocketError) -> Accepted? {
    while true {
        var raw = RawAddress()
        let descriptor = unsafe shim_accept(listener.descriptor, &raw.storage, &raw.length)
        if descriptor < 0 {
            let code = errno
            switch code {
            case EAGAIN: return nil
            // accept(2): pending network errors of the new socket are passed on by Linux; treat them like EAGAIN of
            // that one connection and look at the next.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
                EOPNOTSUPP, ENETUNREACH:
                continue
            default: throw SocketError(errno: code, call: "accept")
            }
        }
        let socket = Socket(adopting: descriptor)
        guard let peer = raw.socketAddress(), let local = socket.localAddress() else { continue }
        let index = shim_arrival_index(descriptor, raw.family)
        return Accepted(
            socket: socket, peer: peer, local: local, arrivalIndex: index == 0 ? nil : index)
    }
}

/// Takes the next connection from a Unix listener, nonblocking; nil when none waits.
package func acceptUnix(on listener: borrowing Socket) throws(SocketError) -> Socket? {
    while true {
        var raw = RawAddress()
        let descriptor = unsafe shim_accept(listener.descriptor, &raw.storage, &raw.length)
        if descriptor >= 0 { return Socket(adopting: descriptor) }
        let code = errno
        switch code {
        case EAGAIN: return nil
        case EINTR, ECONNABORTED: continue
        default: throw SocketError(errno: code, call: "accept")
        }
    }
}
