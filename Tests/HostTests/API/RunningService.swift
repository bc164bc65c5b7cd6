// SPDX-License-Identifier: Apache-2.0

import Core
import Foundation
import LatchkeyClient
import Synchronization
import Testing
import Wire

@testable import Host

/// The whole service on free ports and a state directory of its own, and a client on its Unix socket.
final class RunningService {
    private let service: Service
    private let sink: LogSink
    private let directory: URL
    private let written = Lines()
    /// Talks to the Unix socket: role admin.
    let client: Client

    struct BadOptions: Error {}

    /// Collects what the log writes.
    final class Lines: Sendable {
        private let text = Mutex("")
        func append(_ line: String) { text.withLock { $0 += line } }
        var all: String { text.withLock { $0 } }
    }

    init(_ more: String...) throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("lk-host-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let arguments = [
            "--state-dir", directory.path + "/state", "--runtime-dir", directory.path + "/run", "--api-port",
            "0",
            "--log-level", "debug", "--no-advertise",
        ]
        guard case .run(let options) = Options.parse(arguments + more, environment: [:], isRoot: false) else {
            throw BadOptions()
        }
        sink = try LogSink(format: .json, level: .debug, write: { [written] in written.append($0) })
        service = try Service(options, log: sink)
        client = Client(.unix(path: directory.path + "/run/api.sock"))
    }

    deinit {
        service.stop()
        sink.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Everything logged so far.
    var log: String { written.all }

    /// A token of the state directory.
    func token(_ role: String) throws -> String {
        let text = try String(contentsOfFile: directory.path + "/state/\(role).token", encoding: .utf8)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A client over TCP with a role's token.
    func client(as role: String) throws -> Client {
        let file = try Data(contentsOf: directory.appendingPathComponent("run/endpoints.json"))
        let address = try JSON.parse(Array(file))["api"]?["tcp"]?.array?.first?.string ?? ""
        return Client(try #require(Endpoint.url("http://\(address)", token: token(role))))
    }

    /// One call; the answer's status and JSON (null when it is none).
    func call(
        _ method: String, _ path: String, _ body: String? = nil, by client: Client? = nil
    ) throws -> (status: Int, json: JSON) {
        let answer = try (client ?? self.client).call(method: method, path: path, body: body)
        return (answer.status, (try? JSON.parse(answer.body)) ?? .null)
    }

    /// A fingerprint made from a number.
    static func fingerprint(_ number: UInt8) -> String {
        Base64URL.encode([number] + [UInt8](repeating: 7, count: 31))
    }

    /// Pairs devices 1...count by import.
    func addDevices(_ count: UInt8) throws {
        let lines = (1...count).map {
            "{\"fingerprint\":\"\(Self.fingerprint($0))\",\"name\":\"Device \($0)\"}\n"
        }
        let answer = try call("POST", "/v1/devices/import", lines.joined())
        #expect(answer.status == 200)
    }
}
