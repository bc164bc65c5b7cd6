// SPDX-License-Identifier: Apache-2.0

import Foundation
import Sockets
import SystemBus

struct CannotRun: Error { var what: String }

/// A real `dbus-daemon` of the test's own, on a socket in a directory of its own; gone when this ends.
final class TestDaemon {
    let directory: String
    private var process: pid_t = 0

    init() throws {
        directory = NSTemporaryDirectory() + "latchkey-bus-" + UUID().uuidString.prefix(8)
        try makeDirectory(directory, mode: 0o700)
        // What the system's bus allows matters to no test, but that anybody may send a signal to anybody does.
        let configuration = """
            <busconfig><type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
            <allow user="*"/></policy></busconfig>
            """
        try createExclusive(directory + "/bus.conf", Array(configuration.utf8), mode: 0o600)
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    var address: String { "unix:path=\(directory)/bus" }

    /// With pauses a test can wait for.
    var place: BusPlace {
        var place = BusPlace(address: address)
        place.pauses = ReconnectPauses([.milliseconds(10)])
        return place
    }

    /// Returns when it listens.
    func start() throws {
        try? removeFile(directory + "/bus")
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw CannotRun(what: "pipe") }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addclose(&actions, ends[0])
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        // It says there that it may not have 65536 descriptors.
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let words = [
            "dbus-daemon", "--nofork", "--nopidfile", "--print-address=1",
            "--config-file=\(directory)/bus.conf",
        ]
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        let code = unsafe posix_spawnp(&process, words[0], &actions, nil, &pointers, environ)
        close(ends[1])
        defer { close(ends[0]) }
        guard code == 0 else { throw CannotRun(what: "dbus-daemon: \(code)") }
        // It says its address once it listens; the end of the pipe says that it did not get so far.
        var byte: UInt8 = 0
        guard unsafe read(ends[0], &byte, 1) == 1 else { throw CannotRun(what: "dbus-daemon") }
    }

    /// Ends it at once, as a crash would.
    func stop() {
        guard process > 0 else { return }
        kill(process, SIGKILL)
        _ = waitpid(process, nil, 0)
        process = 0
    }

    /// Stands still: connections stay, nothing is answered.
    func freeze() { kill(process, SIGSTOP) }

    /// Goes on.
    func thaw() { kill(process, SIGCONT) }
}
