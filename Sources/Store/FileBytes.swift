// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Sockets

/// The first `count` bytes of a file, fewer when it is shorter.
func readPrefix(_ path: String, count: Int) throws(SocketError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SocketError(errno: errno, call: "open \(path)") }
    let file = Socket(adopting: descriptor)
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(file.descriptor, $0.baseAddress, $0.count, 0)
    }
    guard got >= 0 else { throw SocketError(errno: errno, call: "read \(path)") }
    return Array(bytes.prefix(got))
}

/// Has a file's bytes outlive a power loss.
func fsyncFile(_ path: String) throws(SocketError) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SocketError(errno: errno, call: "open \(path)") }
    let file = Socket(adopting: descriptor)
    guard fsync(file.descriptor) == 0 else { throw SocketError(errno: errno, call: "fsync \(path)") }
}
