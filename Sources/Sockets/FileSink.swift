// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file that grows: what is written goes to its end. May be used from any thread.
package final class FileSink: Sendable {
    private let file: Socket
    private let path: String

    /// Makes `path`, or empties what is there. Throws when that cannot be done.
    package init(path: String, mode: UInt32) throws(SocketError) {
        self.path = path
        file = try openFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, mode: mode)
    }

    /// Adds to the end. Throws when not all of it fits.
    package func write(_ bytes: [UInt8]) throws(SocketError) {
        try writeAll(bytes, to: file.descriptor, path)
    }
}
