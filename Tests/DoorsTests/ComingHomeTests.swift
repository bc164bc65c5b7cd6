// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Doors
import EventLoop
import Foundation
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import LatchkeyDevice

/// The device's kept session at this host's own doors: 06 B4 and B7 from end to end.
@Suite("A kept session at the doors", .timeLimit(.minutes(1)))
struct ComingHomeTests {
    /// A streaming process that two sessions, one after the other, are relayed to. It numbers what it sends to each, and
    /// sends a frame before each answer to a ping.
    final class Streaming: Sendable {
        /// What was sent so far, by session.
        let sent = Mutex<[[UInt8]]>([])
        /// What came from the device, by session: the first byte of each kind 8.
        let inputs = Mutex<[[UInt8]]>([])

        func serve(_ backend: TestBackend, sessions: Int) throws -> [JoinHandle] {
            let waiting = UncheckedBackend(backend)
            return [
                try runInBackground { [self] in
                    var served: [JoinHandle] = []
                    for number in 0..<sessions {
                        guard let session = try? waiting.value.accept() else { break }
                        sent.withLock { $0.append([]) }
                        inputs.withLock { $0.append([]) }
                        let link = UncheckedSession(session)
                        if let thread = try? runInBackground({ self.stream(link.value, number) }) {
                            served.append(thread)
                        }
                    }
                    served.forEach { $0.join() }
                }
            ]
        }

        private func stream(_ session: TestBackendSession, _ number: Int) {
            let list = #"{"macName":"Desk","windows":[],"active":{"none":{}},"launchID":"L"}"#
            var frame: UInt8 = 0
            func send(_ kind: MessageKind, _ payload: [UInt8]) throws {
                try session.send(encodeMessage(kind: kind, timestamp: 1, payload: payload))
            }
            // It ends when the relay closes the session.
            do {
                try send(.windowList, Array(list.utf8))
                try send(.hostSettings, Array("{}".utf8))
                while let message = try session.next() {
                    switch message.header.kind {
                    case .ping:
                        frame &+= 1
                        try send(.frame, [UInt8(number), frame])
                        sent.withLock { $0[number].append(frame) }
                        try send(.pong, message.payload)
                    case .input:
                        if let first = message.payload.first { inputs.withLock { $0[number].append(first) } }
                    default: break
                    }
                }
            } catch {}
        }
    }

    /// For exactly one thread.
    struct UncheckedBackend: @unchecked Sendable {
        // Sendable: handed to exactly one thread, and not touched by the test before it has been joined.
        let value: TestBackend
        init(_ value: TestBackend) { self.value = value }
    }

    /// What a browser would say.
    final class Rows: RowSource {
        private let told = Mutex<(@Sendable ([BrowsedRow]) -> Void)?>(nil)
        func start(_ changed: @escaping @Sendable ([BrowsedRow]) -> Void) { told.withLock { $0 = changed } }
        func stop() { told.withLock { $0 = nil } }
        func list(_ rows: [BrowsedRow]) { told.withLock { $0 }?(rows) }
    }

    static func info(_ key: HostKey, issuedAt: Double) throws -> [UInt8] {
        let info = HostInfo(
            macID: key.fingerprint.id.text, name: "Desk", issuedAt: issuedAt, remoteAccess: true,
            remotePort: 7455, internet: false, addresses: []
        ).encode()
        return try SignedHostInfo(info: info, key: key.point, signature: key.sign(info)).encode()
    }

    @Test("from the remote door to the home door, each message in its order, each input once")
    func comesHome() async throws {
        let directory = NSTemporaryDirectory() + "latchkey-home-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let device = try Device(
            directory: directory, description: .init(name: "Test"), keepLoopback: true)
        let identity = Identity(device.store.key, try device.store.key.certificate())
        let backend = try TestBackend()
        var settings = Settings()
        settings.remoteAccess = true
        settings.remotePort = 0
        let key = try Identity.host.get().key
        let signed = try (1...9).map { try Self.info(key, issuedAt: Double($0)) }
        let made = Mutex(0)
        let host = try TestHost(
            backend: .unix(path: backend.path), settings: settings, devices: [identity],
            hostInfo: {
                // Signed afresh for each catalog.
                signed[
                    made.withLock { made in
                        made = min(made + 1, signed.count)
                        return made - 1
                    }]
            })
        let streaming = Streaming()
        let threads = try streaming.serve(backend, sessions: 2)
        let remote = try host.address(.remote)
        var saved = try #require(
            SavedHost(
                fingerprint: key.fingerprint.base64url, name: "Desk",
                recognitionKey: [UInt8](repeating: 5, count: 32), remotePort: Int(remote.port),
                addresses: [SavedAddress(host: "127.0.0.1", port: nil, kind: "lan", via: "")], pairedAt: 1,
                method: "qr"))
        saved.revoked = false
        let record = saved
        try device.store.change { $0.add(record) }
        let session = try await device.connect(to: record)
        #expect(session.door == .remote)

        let rows = Rows()
        let kept = KeptSession(session, of: device, rows: rows)
        let frames = Mutex<[[UInt8]]>([])
        let (changes, told) = AsyncStream.makeStream(of: SessionChange.self)
        let running = Task {
            await kept.run(
                onChange: { told.yield($0) },
                onMessage: { message in
                    if message.kind == MessageKind.frame.rawValue {
                        frames.withLock { $0.append(message.payload) }
                    }
                })
            told.finish()
        }
        let home = try Endpoint("127.0.0.1:\(try host.address(.home).port)")
        var seen: [SessionChange.Kind] = []
        var input: UInt8 = 0
        for await change in changes {
            seen.append(change.kind)
            if change.kind == .connected {
                rows.list([
                    BrowsedRow(row: ListedRow(id: "r", name: "Desk", hostID: record.id), endpoints: [home])
                ])
            }
            // Before, during and after the hand-over.
            for _ in 0..<20 {
                input += 1
                try await kept.send(kind: MessageKind.input.rawValue, [input])
            }
            if change.kind == .moved { break }
        }
        #expect(seen == [.connected, .moving, .moved])
        try host.until("the device hears the home door") { frames.withLock { $0.contains { $0[0] == 1 } } }
        try host.until("each input has come") { streaming.inputs.withLock { $0.joined().contains(input) } }
        try host.until("the remote session is over") {
            host.core.enter { core, _ in core.sessions().count } == 1
        }
        running.cancel()
        await running.value
        threads.forEach { $0.join() }

        // In order, without a gap, up to the hand-over, and then the new connection's from its first.
        let heard = frames.withLock { $0 }
        let first = heard.prefix { $0[0] == 0 }
        let second = heard.dropFirst(first.count)
        #expect(!first.isEmpty && !second.isEmpty)
        #expect(first.map { $0[1] } == (1...UInt8(max(first.count, 1))).map { $0 })
        #expect(second.map { $0[1] } == (1...UInt8(max(second.count, 1))).map { $0 })
        // All that was sent before the answer to the fence: at most the frames of pings behind it are missing.
        #expect(first.count >= streaming.sent.withLock { $0[0].count } - 1)
        // Each input once, in order, at one session or the other.
        #expect(streaming.inputs.withLock { Array($0.joined()) } == (1...input).map { $0 })
        #expect(try device.host(record.id).infoIssuedAt >= 2)
    }
}
