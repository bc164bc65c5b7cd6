// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import Wire

/// What a program that was run left.
package struct ProgramOutput: Sendable, Equatable {
    /// Its exit status; nil when a signal ended it.
    package let status: Int32?
    /// All of its standard output.
    package let output: [UInt8]
}

/// Why a program gave nothing of use.
package enum ProgramFailure: Error, Sendable, Equatable {
    /// It could not be started: it is not there, or may not be run.
    case notStarted(errno: Int32)
    /// It had not ended in time, and was killed.
    case silent
    /// It said more than it may, and was killed.
    case tooLong
}

/// Runs a program by its path and waits for its end on the calling thread; after `deadline` it is killed.
///
/// There is no shell, no search, no input, nothing of this process's environment but a plain path and language, and no
/// descriptor of ours. What it says on error output is dropped.
package func runProgram(
    _ path: String, _ arguments: [String], until deadline: MonotonicTime, limit: Int
) throws(ProgramFailure) -> ProgramOutput {
    var ends: [Int32] = [-1, -1]
    guard unsafe shim_pipe(&ends) == 0 else { throw .notStarted(errno: errno) }
    let reading = Socket(adopting: ends[0])
    let child: pid_t
    do {
        let writing = Socket(adopting: ends[1])
        child = try spawn(path, arguments, output: writing.descriptor)
    }
    do throws(ProgramFailure) {
        let output = try readAll(reading, until: deadline, limit: limit)
        // It may have closed its output and still run.
        guard hasEnded(child, by: deadline) else { throw .silent }
        return ProgramOutput(status: reap(child), output: output)
    } catch {
        // Not reaped yet, so the number is nobody else's.
        kill(child, SIGKILL)
        _ = reap(child)
        throw error
    }
}

private func hasEnded(_ child: pid_t, by deadline: MonotonicTime) -> Bool {
    let descriptor = shim_pidfd_open(child)
    guard descriptor >= 0 else { return false }
    let end = Socket(adopting: descriptor)
    do throws(SocketError) { return try end.wait(for: .readable, until: deadline) } catch { return false }
}

private func readAll(
    _ pipe: borrowing Socket, until deadline: MonotonicTime, limit: Int
) throws(ProgramFailure) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var output: [UInt8] = []
    while true {
        let isReady: Bool
        do throws(SocketError) { isReady = try pipe.wait(for: .readable, until: deadline) } catch {
            throw .silent
        }
        guard isReady, monotonicNow() < deadline else { throw .silent }
        let count = unsafe chunk.withUnsafeMutableBytes {
            unsafe read(pipe.descriptor, $0.baseAddress, $0.count)
        }
        if count == 0 { return output }
        guard count > 0 else { continue }
        output += chunk[..<count]
        guard output.count <= limit else { throw .tooLong }
    }
}

private func spawn(
    _ path: String, _ arguments: [String], output: Int32
) throws(ProgramFailure) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Our threads block every signal, and this process ignores some: neither is for it.
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var words = unsafe cStrings([path] + arguments)
    var environment = unsafe cStrings(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"])
    defer {
        unsafe words.forEach { unsafe free($0) }
        unsafe environment.forEach { unsafe free($0) }
    }
    var child: pid_t = 0
    let code = unsafe posix_spawn(&child, path, &actions, &attributes, &words, &environment)
    guard code == 0 else { throw .notStarted(errno: code) }
    return child
}

/// Copies that C can keep, and a null pointer after them.
private func cStrings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    var copies: [UnsafeMutablePointer<CChar>?] = unsafe []
    for text in texts { unsafe copies.append(strdup(text)) }
    unsafe copies.append(nil)
    return unsafe copies
}

/// Waits for its end, which has come or been ordered.
private func reap(_ child: pid_t) -> Int32? {
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
        guard errno == EINTR else { return nil }
    }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
}
