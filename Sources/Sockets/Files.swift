// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// What the file system says about one path; links are not followed.
package struct FileFacts: Equatable, Sendable {
    /// Permission bits alone, 0o7777 at most.
    package let mode: UInt32
    /// The owner.
    package let uid: UInt32
    /// The owner's group.
    package let gid: UInt32
    /// In bytes.
    package let size: Int64
    package let isDirectory: Bool
    package let isSocket: Bool
    /// A plain file: not a link, not a device.
    package let isRegular: Bool

    /// Whether anyone but the owner has any permission (spec 09 point 14: for a key that is too loose).
    package var isOpenToOthers: Bool { mode & 0o077 != 0 }
}

/// What is at `path`; nil when nothing is there or it cannot be seen.
package func fileFacts(_ path: String) -> FileFacts? {
    var found = stat()
    guard unsafe lstat(path, &found) == 0 else { return nil }
    let kind = found.st_mode & S_IFMT
    return FileFacts(
        mode: UInt32(found.st_mode & 0o7777), uid: found.st_uid, gid: found.st_gid,
        size: Int64(found.st_size),
        isDirectory: kind == S_IFDIR, isSocket: kind == S_IFSOCK, isRegular: kind == S_IFREG)
}

/// A whole file of at most `limit` bytes. A longer one throws `EFBIG`: nothing is ever cut silently.
package func readFile(_ path: String, limit: Int = 16 << 20) throws(SocketError) -> [UInt8] {
    let file = try openFile(path, O_RDONLY)
    var result: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
        let count = try syscall("read \(path)") {
            unsafe chunk.withUnsafeMutableBytes { unsafe read(file.descriptor, $0.baseAddress, $0.count) }
        }
        if count == 0 { return result }
        guard result.count + count <= limit else { throw SocketError(errno: EFBIG, call: "read \(path)") }
        result += chunk[..<count]
    }
}

/// Replaces a file as a whole: whoever reads sees the old bytes or the new ones, after a power loss too.
///
/// Written beside it as `path.tmp`, synced, renamed, directory synced. Throws leaving the old file as it was. What a
/// crash, or somebody else, left at `path.tmp` is never opened: a pipe there would hold the caller for ever.
package func writeFileAtomically(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(SocketError) {
    let temporary = path + ".tmp"
    do {
        try removeFile(temporary)
        try write(temporary, bytes, mode: mode, flags: O_EXCL)
        try renameFile(temporary, to: path)
    } catch {
        _ = unsafe unlink(temporary)
        throw error
    }
    try fsyncDirectory(directory(of: path))
}

/// Writes and syncs a file that must not be there yet. Throws with `isPresent` when it is.
///
/// The directory's entry is the caller's to sync (``fsyncDirectory(_:)``), since it often makes several.
package func createExclusive(_ path: String, _ bytes: [UInt8], mode: UInt32) throws(SocketError) {
    try write(path, bytes, mode: mode, flags: O_EXCL)
}

/// Makes renames and new files in a directory outlive a power loss.
package func fsyncDirectory(_ path: String) throws(SocketError) {
    let opened = try openFile(path, O_RDONLY | O_DIRECTORY)
    _ = try syscall("fsync \(path)") { fsync(opened.descriptor) }
}

/// Moves a file over whatever is at `target`, in one step.
package func renameFile(_ path: String, to target: String) throws(SocketError) {
    _ = try syscall("rename \(path) to \(target)") { unsafe rename(path, target) }
}

/// Removes a file, socket or link; one that is not there is no error.
package func removeFile(_ path: String) throws(SocketError) {
    do {
        _ = try syscall("unlink \(path)") { unsafe unlink(path) }
    } catch  where error.isMissing {}
}

/// Gives a file a second name: one file, and no copy. Throws with `isPresent` when that name is taken.
package func linkFile(_ path: String, as name: String) throws(SocketError) {
    _ = try syscall("link \(path) as \(name)") { unsafe link(path, name) }
}

/// Gives a file, or a link itself, to another user and group; for root.
package func giveFile(_ path: String, uid: UInt32, gid: UInt32) throws(SocketError) {
    _ = try syscall("chown \(path)") { unsafe lchown(path, uid, gid) }
}

/// Removes an empty directory; one that is not there is no error.
package func removeDirectory(_ path: String) throws(SocketError) {
    do {
        _ = try syscall("rmdir \(path)") { unsafe rmdir(path) }
    } catch  where error.isMissing {}
}

/// Makes a directory and those above it; `mode` is given to the last one, also when it was there already and ours.
package func makeDirectory(_ path: String, mode: UInt32) throws(SocketError) {
    var partial = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
        partial += "/\(part)"
        if let facts = fileFacts(partial), facts.isDirectory { continue }
        do {
            _ = try syscall("mkdir \(partial)") { unsafe mkdir(partial, 0o755) }
        } catch  where error.isPresent {}
    }
    guard let facts = fileFacts(path + "/."), facts.isDirectory else {
        throw SocketError(errno: ENOTDIR, call: "mkdir \(path)")
    }
    if facts.mode != mode, facts.uid == geteuid() {
        _ = try syscall("chmod \(path)") { unsafe chmod(path, mode) }
    }
}

/// The names in a directory, without `.` and `..`, sorted.
package func directoryEntries(_ path: String) throws(SocketError) -> [String] {
    guard let opened = unsafe opendir(path) else { throw SocketError(errno: errno, call: "opendir \(path)") }
    defer { unsafe closedir(opened) }
    var names: [String] = []
    while let entry = unsafe readdir(opened) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// The directory part of a path: what stands before its last slash.
package func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Opens a file, close-on-exec. ``Socket`` owns any descriptor: it only closes it.
func openFile(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(SocketError) -> Socket {
    let descriptor = try syscall("open \(path)") { unsafe open(path, flags | O_CLOEXEC, mode) }
    return Socket(adopting: descriptor)
}

private func write(_ path: String, _ bytes: [UInt8], mode: UInt32, flags: Int32) throws(SocketError) {
    let file = try openFile(path, O_WRONLY | O_CREAT | O_NOFOLLOW | flags, mode: mode)
    // The umask, or an old temporary file, may have left other bits.
    _ = try syscall("chmod \(path)") { fchmod(file.descriptor, mode) }
    try writeAll(bytes, to: file.descriptor, path)
    _ = try syscall("fsync \(path)") { fsync(file.descriptor) }
}

/// All bytes to an open file that `path` names in errors.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(SocketError) {
    var done = 0
    while done < bytes.count {
        done += try syscall("write \(path)") {
            unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
        }
    }
}
