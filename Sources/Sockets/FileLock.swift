// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// An exclusive lock on a file, held until this ends, and by the kernel's doing never longer than the process lives.
package struct FileLock: ~Copyable, Sendable {
    private let file: Socket

    /// Why a lock could not be had.
    package enum Failure: Error, Sendable {
        /// Another process holds it; its process ID when the file says so.
        case held(pid: Int32?)
        case system(SocketError)
    }

    /// Takes the lock without waiting and writes this process's ID into the file.
    package init(path: String) throws(Failure) { file = try Self.lock(path) }

    /// Whether another process holds the lock of a file that is there. Writes nothing.
    package static func isHeld(path: String) -> Bool {
        do throws(SocketError) {
            let file = try openFile(path, O_RDONLY)
            _ = try syscall("lock \(path)") { shim_flock_exclusive_now(file.descriptor) }
            return false
        } catch {
            return error.isWouldBlock
        }
    }

    private static func lock(_ path: String) throws(Failure) -> Socket {
        do {
            let file = try openFile(path, O_RDWR | O_CREAT, mode: 0o600)
            _ = try syscall("lock \(path)") { shim_flock_exclusive_now(file.descriptor) }
            // Only for people; the lock itself is the kernel's. A full disk must not stop a service from starting.
            let text = Array("\(getpid())\n".utf8)
            _ = ftruncate(file.descriptor, 0)
            _ = unsafe text.withUnsafeBytes { unsafe pwrite(file.descriptor, $0.baseAddress, $0.count, 0) }
            return file
        } catch {
            guard error.isWouldBlock else { throw .system(error) }
            let text = (try? readFile(path, limit: 64)).map { String(decoding: $0, as: UTF8.self) }
            throw .held(pid: text.flatMap { Int32($0.prefix { $0.isNumber }) })
        }
    }
}
