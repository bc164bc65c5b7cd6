// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A system call on a socket or file that failed.
package struct SocketError: Error, Sendable, CustomStringConvertible {
    /// The kernel's error number, what a caller may decide by.
    package let errno: Int32
    /// What was tried and on what: "bind 0.0.0.0:7455".
    package let call: String

    package init(errno: Int32, call: String) {
        self.errno = errno
        self.call = call
    }

    /// The call and the kernel's words: "bind 0.0.0.0:7455: Address already in use".
    package var message: String { "\(call): \(systemMessage(errno))" }

    package var description: String { message }

    /// Another socket holds the address (`EADDRINUSE`).
    package var isAddressInUse: Bool { errno == EADDRINUSE }

    /// Nothing to do now (`EAGAIN`).
    package var isWouldBlock: Bool { errno == EAGAIN }

    /// The machine has no such address family, or it is switched off (`EAFNOSUPPORT`, `EADDRNOTAVAIL`).
    package var isFamilyMissing: Bool { errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL }

    /// Descriptors or buffer memory have run out (`EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM`).
    package var isExhausted: Bool {
        errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM
    }

    /// The file or directory is not there (`ENOENT`).
    package var isMissing: Bool { errno == ENOENT }

    /// The file is there already (`EEXIST`).
    package var isPresent: Bool { errno == EEXIST }

    /// Nobody listens at the other end (`ECONNREFUSED`, or `ENOENT` for a Unix path).
    package var isRefused: Bool { errno == ECONNREFUSED || errno == ENOENT }

    /// The other end, or something on the way, broke it off (`ECONNRESET`, `ECONNABORTED`, `EPIPE`).
    package var isBrokenOff: Bool { errno == ECONNRESET || errno == ECONNABORTED || errno == EPIPE }

    /// No way leads there, or nobody is there (`ENETUNREACH`, `EHOSTUNREACH`, `ENETDOWN`, `EHOSTDOWN`).
    package var isUnreachable: Bool {
        errno == ENETUNREACH || errno == EHOSTUNREACH || errno == ENETDOWN || errno == EHOSTDOWN
    }

    /// The other end's mode or a firewall keeps this user out (`EACCES`, `EPERM`).
    package var isNotAllowed: Bool { errno == EACCES || errno == EPERM }

    /// The wait ended before the peer answered (`ETIMEDOUT`).
    package var isTimedOut: Bool { errno == ETIMEDOUT }
}

/// The kernel's words for an error number.
package func systemMessage(_ errno: Int32) -> String {
    // strerror's buffer may be overwritten by another thread; the reentrant form fills ours.
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let base = buffer.baseAddress, unsafe strerror_r(errno, base, buffer.count) == 0 else {
            return "error \(errno)"
        }
        return unsafe String(cString: base)
    }
}

/// Runs a system call that returns -1 on failure; starts it again after `EINTR`.
///
/// `errno` is read in the expression that failed: anything in between may overwrite it.
@inline(__always)
func syscall<I: FixedWidthInteger>(
    _ name: @autoclosure () -> String, _ body: () -> I
) throws(SocketError) -> I {
    while true {
        let result = body()
        if result != -1 { return result }
        let code = errno
        if code != EINTR { throw SocketError(errno: code, call: name()) }
    }
}
