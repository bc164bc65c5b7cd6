// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// Facts about this process and machine that decide defaults.
package enum CurrentProcess {
    /// Whether it runs as root.
    package static var isRoot: Bool { geteuid() == 0 }

    /// Its effective user.
    package static var userID: UInt32 { geteuid() }

    /// Processors it may use, at least 1.
    package static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The machine's name as the kernel has it; empty when it has none.
    package static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Where relative paths begin; "." when the kernel does not say.
    package static var workingDirectory: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard unsafe getcwd(&buffer, buffer.count) != nil else { return "." }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether error output goes to a terminal.
    package static var errorIsTerminal: Bool { isatty(2) == 1 }

    /// Whether error output is the stream that `JOURNAL_STREAM` names (systemd.exec(5)): programs that a service started
    /// have the variable too, and may write elsewhere.
    package static func errorIs(journalStream: String) -> Bool {
        var found = stat()
        guard unsafe fstat(2, &found) == 0 else { return false }
        return journalStream == "\(found.st_dev):\(found.st_ino)"
    }

    /// Writes bytes to error output; what cannot be written is lost.
    package static func writeError(_ text: String) { writeAll(text, to: 2) }

    /// Writes bytes to standard output; what cannot be written is lost.
    package static func writeOutput(_ text: String) { writeAll(text, to: 1) }

    /// Raises how many descriptors may be open to what the system allows at most: the usual 1,024 is less than the
    /// pending connections of one door (spec 09 point 2), which would then be shed before the oldest makes room.
    package static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            limit.rlim_cur < limit.rlim_max
        else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The ID of a group, or nil when there is none of that name.
    package static func groupID(_ name: String) -> UInt32? {
        unsafe getgrnam(name).map { unsafe $0.pointee.gr_gid }
    }

    /// The ID of a user, or nil when there is none of that name.
    package static func userID(_ name: String) -> UInt32? {
        unsafe getpwnam(name).map { unsafe $0.pointee.pw_uid }
    }

    private static func writeAll(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                return unsafe write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            done += count
        }
    }
}

/// The variables this process was started with.
package enum Environment {
    /// Those that are text; of a name that occurs twice, the first.
    package static var current: [String: String] {
        var found: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let parts = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, found[String(parts[0])] == nil { found[String(parts[0])] = String(parts[1]) }
            unsafe entry += 1
        }
        return found
    }
}
