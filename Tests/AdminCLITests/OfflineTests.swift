// SPDX-License-Identifier: Apache-2.0

import Core
import Foundation
import Policy
import Sockets
import StateDirectory
import Testing
import Wire

@testable import AdminCLI

@Suite("Commands while the service is down")
struct OfflineTests {
    /// A state directory as a service leaves it, with two devices.
    final class State {
        let path = NSTemporaryDirectory() + "/lk-\(UUID().uuidString.prefix(8))"
        let ids: [String]

        init() throws {
            let opened = try StateDirectory.open(
                path: path, for: .service(newIdentity: false), now: Fixtures.now)
            let moment = Moment(now: monotonicNow(), wall: Fixtures.now)
            var offline = OfflineCore(opened, fallbackName: "x", moment: moment)
            let records = try ["Anna's iPad", "Phone"].enumerated().map { number, name in
                DeviceRecord(
                    fingerprint: try #require(
                        Fingerprint(bytes: [UInt8](repeating: UInt8(number + 1), count: 32))),
                    name: name, model: nil, pairedAt: Fixtures.now, pairedHow: "qr")
            }
            ids = records.map(\.id.text)
            _ = offline.apply(
                .importDevices(records, restoreRemoved: false), actor: .service, moment)
            opened.directory.close()
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Runs `latchkey` on it, with no service anywhere.
        func run(_ words: String...) -> (code: Int32, output: String, errors: String) {
            let console = TestConsole()
            console.environment = ["LATCHKEY_RUNTIME_DIR": "/nonexistent"]
            let code = AdminCLI.run(words + ["--state-dir", path], console.console).rawValue
            return (code, console.output, console.errors)
        }
    }

    @Test("list, show, rename, remove")
    func devices() throws {
        let state = try State()
        let remark = "latchkey: the service is not running; working on its state directory \(state.path)\n"
        let list = state.run("list")
        #expect(list.code == 0)
        #expect(list.errors == remark)
        #expect(list.output.contains("Anna's iPad") && list.output.contains("Phone"))
        let show = state.run("show", "Phone", "--json")
        #expect(show.code == 0)
        #expect(show.errors == remark)
        #expect(show.output.hasPrefix(#"{"id":"\#(state.ids[1])","name":"Phone""#))
        #expect(
            state.run("rename", state.ids[1], "Handy").output == "Renamed Phone to Handy (\(state.ids[1])).\n"
        )
        #expect(state.run("rename", "Handy", "\u{7}").code == 1)
        #expect(state.run("rename", "Phone", "X").code == 4)
        #expect(
            state.run("remove", "Handy", "--yes").output
                == "Removed Handy (\(state.ids[1])). It had no session.\n")
        #expect(state.run("show", state.ids[1]).code == 4)
        #expect(state.run("list", "--json").output.contains(state.ids[0]))
    }

    @Test("settings and set, with the service's own rules")
    func settings() throws {
        let state = try State()
        let set = state.run("set", "home-bitrate", "20M", "name", "Den")
        #expect(set.code == 0)
        #expect(set.output == "name          Den\nhome-bitrate  20000000 (20 Mbit/s)\n")
        let refused = state.run("set", "max-fps", "100000", "name", "Other")
        #expect(refused.code == 1)
        #expect(refused.errors.contains("latchkey: max-fps "))
        let settings = state.run("settings")
        #expect(settings.output.contains("Den\n") && settings.output.contains("20000000"))
        #expect(state.run("set", "colour", "blue").code == 2)
    }

    @Test("a directory that is held is not touched, one that is not there is no service")
    func held() throws {
        let state = try State()
        let opened = try StateDirectory.open(path: state.path, for: .commandLine, now: Fixtures.now)
        let held = state.run("list")
        opened.directory.close()
        #expect(held.code == 1)
        #expect(held.errors.contains("in use by process"))
        #expect(state.run("list").code == 0)
        let console = TestConsole()
        console.environment = ["LATCHKEY_RUNTIME_DIR": "/nonexistent"]
        #expect(console.run("list", "--state-dir", "/nonexistent") == 3)
        #expect(state.run("status").code == 3)
        #expect(state.run("list", "--api", "http://127.0.0.1:1", "--token-file", "/dev/null").code != 0)
    }
}
