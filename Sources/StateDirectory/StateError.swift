// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets
internal import Store

/// Why a state directory cannot be used, with the exit code of spec 09 point 13.
package struct StateError: Error, Sendable, CustomStringConvertible {
    /// Exit codes of sysexits.h as `latchkeyd` uses them.
    package enum ExitCode: Int32, Sendable {
        /// A directory or file cannot be made or written (EX_CANTCREAT).
        case cannotCreate = 73
        /// Another process holds the directory (EX_TEMPFAIL).
        case held = 75
        /// Database, key or token unusable (EX_CONFIG).
        case unusable = 78
    }

    package let exitCode: ExitCode
    /// What is wrong, naming the file, and what to do about it. Never holds a secret.
    package let message: String

    package var description: String { message }

    init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }

    /// A file or directory that could not be made or written.
    init(making error: SocketError) {
        self.init(
            .cannotCreate,
            "\(error.message). Make sure that the state directory can be written by this user, or name another "
                + "with --state-dir")
    }

    /// What the store said: an unusable file, or a disk that does not take it.
    init(_ error: StoreError) {
        switch error.code {
        case .readOnly, .full, .io:
            self.init(
                .cannotCreate,
                "\(error.message). Make sure that the disk has room and the state directory can be written")
        default: self.init(.unusable, error.message)
        }
    }

    /// Randomness or key generation that failed.
    init(_ error: CryptoError) { self.init(.unusable, "OpenSSL: \(error.message)") }
}

/// The ways on that more than one message names.
enum WayOut {
    /// For a directory whose parts do not belong together.
    static func restoreOrStartAnew(_ directory: String) -> String {
        "Restore a backup: latchkey restore --state-dir \(directory) FILE. To start anew on purpose, with a new identity "
            + "that every device must pair with again: latchkeyd --new-identity (it moves the old files aside)"
    }

    /// For a token file: tokens are not the identity, and nothing is lost with one.
    static let newToken = "Remove it and start again: a new one is made"
}
