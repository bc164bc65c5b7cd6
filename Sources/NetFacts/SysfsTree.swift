// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Policy

/// Small files and links of a sysfs tree, each read afresh (04 §3.3, "How to read"). Nothing in the tree is believed:
/// whatever stands in a file's place, no call waits for it or reads past its limit.
struct SysfsTree {
    /// Names below the root: `["class", "net"]`.
    typealias Path = [String]

    /// What an attribute of sysfs can hold at most.
    private static let fileLimit = 4096

    private let root: String

    /// The tree at `root`, `/sys` or a fixture. One that is not there reads as empty.
    init(root: String) {
        let resolved = resolvedPath(root) ?? root
        self.root = resolved.hasSuffix("/") ? String(resolved.dropLast()) : resolved
    }

    /// One file of a folder. Links are not followed: the kernel has none in the place of a file.
    func text(_ folder: Path, _ name: String) -> FileReading {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY
        let descriptor = unsafe open(path(folder, name), flags)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : .unreadable }
        defer { close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            return .unreadable
        }
        guard var bytes = contents(descriptor) else { return .unreadable }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .unreadable
    }

    /// Where a link of a folder leads; it must be a directory of this tree.
    func link(_ folder: Path, _ name: String) -> LinkReading {
        let link = path(folder, name)
        var facts = stat()
        guard unsafe lstat(link, &facts) == 0 else { return errno == ENOENT ? .missing : .unreadable }
        guard let end = resolvedPath(link) else {
            return [ENOENT, ENOTDIR, ELOOP].contains(errno) ? .astray : .unreadable
        }
        guard end.hasPrefix(root + "/"), unsafe lstat(end, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR
        else { return .astray }
        return .path(end.dropFirst(root.count).split(separator: "/").map(String.init))
    }

    /// The names in a folder; nil when it cannot be listed.
    func names(_ folder: Path) -> [String]? {
        // Not through a link: the folder was resolved before.
        let descriptor = unsafe open(path(folder), O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
        guard descriptor >= 0, let listing = unsafe fdopendir(descriptor) else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        defer { unsafe closedir(listing) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(listing) else { return errno == 0 ? names : nil }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    private func path(_ folder: Path, _ name: String? = nil) -> String {
        ([root] + folder + (name.map { [$0] } ?? [])).joined(separator: "/")
    }

    /// The whole file, nil when it cannot be read or is longer than a file of sysfs can be.
    private func contents(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Self.fileLimit + 1)
        var count = 0
        while count < bytes.count {
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                return unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if read == 0 { return Array(bytes[..<count]) }
            if read < 0 {
                if errno == EINTR { continue }
                return nil
            }
            count += read
        }
        return nil
    }
}

/// realpath(3); nil with `errno` when it leads nowhere.
private func resolvedPath(_ path: String) -> String? {
    guard let found = unsafe realpath(path, nil) else { return nil }
    let text = unsafe String(cString: found)
    unsafe free(found)
    return text
}
