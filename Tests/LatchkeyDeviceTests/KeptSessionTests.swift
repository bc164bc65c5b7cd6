// SPDX-License-Identifier: Apache-2.0

import Bytes
import CryptoEngine
import Foundation
import Sockets
import Synchronization
import Testing
import Wire

@testable import LatchkeyDevice

/// A kept session over real sockets and TLS: what is promised about bytes, order and strangers.
@Suite("Kept session", .timeLimit(.minutes(1)))
struct KeptSessionTests {
    static func windowList(launch: String) -> String {
        "{\"macName\":\"Desk\",\"windows\":[],\"active\":{\"none\":{}},\"launchID\":\"\(launch)\"}"
    }

    /// What a session says while it is kept.
    final class Diary: Sendable {
        private struct Page {
            var changes: [SessionChange] = []
            var messages: [SessionMessage] = []
            var waiting: [(@Sendable ([SessionChange]) -> Bool, CheckedContinuation<Void, Never>)] = []
        }

        private let page = Mutex(Page())

        var changes: [SessionChange] { page.withLock { $0.changes } }
        var kinds: [SessionChange.Kind] { changes.map(\.kind) }
        var frames: [UInt8] { page.withLock { $0.messages.filter { $0.kind == 1 }.map { $0.payload[0] } } }

        func note(_ message: SessionMessage) { page.withLock { $0.messages.append(message) } }

        func note(_ change: SessionChange) {
            let ready = page.withLock { page in
                page.changes.append(change)
                let changes = page.changes
                let ready = page.waiting.filter { $0.0(changes) }
                page.waiting.removeAll { $0.0(changes) }
                return ready
            }
            ready.forEach { $0.1.resume() }
        }

        /// Waits until a change of this kind has come.
        func wait(for kind: SessionChange.Kind, count: Int = 1) async {
            await withCheckedContinuation { continuation in
                let isThere = page.withLock { page in
                    if page.changes.filter({ $0.kind == kind }).count >= count { return true }
                    page.waiting.append(({ $0.filter { $0.kind == kind }.count >= count }, continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        }
    }

    /// Keeps `session` while `body` runs.
    static func keep(
        _ session: Session, of test: TemporaryDevice, rows: ScriptedRows?,
        options: KeptSession.Options = .init(),
        _ body: (KeptSession, Diary) async throws -> Void
    ) async throws -> Diary {
        let diary = Diary()
        let kept = KeptSession(session, of: test.device, rows: rows, options: options)
        let running = Task { await kept.run(onChange: { diary.note($0) }, onMessage: { diary.note($0) }) }
        do {
            try await body(kept, diary)
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        await running.value
        return diary
    }

    /// The remote door of a host that sends frames, numbered, until it is closed; and answers pings after each.
    static func streaming(_ range: ClosedRange<UInt8>) -> ScriptedHost.Script {
        { link in
            try link.send(.windowList, Self.windowList(launch: "L"))
            try link.send(.hostInfo, link.hostInfo(issuedAt: 5))
            for number in range { try link.send(.frame, [number]) }
            while true {
                let message = try link.next()
                if message.header.kind == .ping { try link.send(.pong, message.payload) }
            }
        }
    }

    @Test("it comes home without dropping a byte, in order, and the remote connection is closed")
    func comesHome() async throws {
        let key = try HostKey.generate()
        let remoteClosed = Mutex(false)
        let late = Mutex<[UInt8]>([])
        let remote = try ScriptedHost(
            key: key,
            scripts: { link in
                defer { remoteClosed.withLock { $0 = true } }
                try link.send(.windowList, Self.windowList(launch: "L"))
                try link.send(.hostInfo, link.hostInfo(issuedAt: 5))
                var number: UInt8 = 1
                while true {
                    let message = try link.next()
                    guard message.header.kind == .ping else { continue }
                    // Before each answer a frame: what the host sent before it passed the fence.
                    try link.send(.frame, [number])
                    late.withLock { $0.append(number) }
                    number += 1
                    try link.send(.pong, message.payload)
                }
            })
        let home = try ScriptedHost(key: key, scripts: Self.streaming(201...205))
        let test = try TemporaryDevice()
        let saved = try test.saved(remote)
        let session = try await test.device.connect(to: saved)
        #expect(session.door == .remote)
        let rows = ScriptedRows()
        let diary = try await Self.keep(session, of: test, rows: rows) { kept, diary in
            rows.list([try ScriptedRows.row(home, of: saved.id)])
            await diary.wait(for: .moved)
            #expect(await kept.door == .home)
            try await kept.send(kind: 8, [1])
            while diary.frames.last != 205 { await Task.yield() }
            while remoteClosed.withLock({ !$0 }) { await Task.yield() }
            let summary = await kept.summary()
            #expect(summary.hostInfo == .verified)
            #expect(summary.kinds[1] == diary.frames.count)
        }
        #expect(diary.kinds == [.connected, .moving, .moved])
        #expect(diary.changes.last?.route == "on this network")
        let seen = diary.frames
        let fromRemote = seen.prefix { $0 < 200 }
        // Each frame that was sent before the answer to the fence is there, then those of the new connection from the first.
        #expect(Array(fromRemote) == Array(late.withLock { $0 }.prefix(fromRemote.count)))
        #expect(fromRemote.count >= late.withLock { $0.count } - 1)
        #expect(Array(seen.dropFirst(fromRemote.count)) == [201, 202, 203, 204, 205])
        let host = try test.device.host(saved.id)
        #expect(host.lastRoute == "on this network")
        #expect(host.bonjourName == "Desk")
        #expect(host.homeTLS)
    }

    @Test("a look-alike is dialled once, and gets no byte beyond the handshake")
    func lookAlike() async throws {
        let remote = try ScriptedHost(scripts: Self.streaming(1...1))
        let asked = Mutex(false)
        let fake = try ScriptedHost(
            verify: { _ in
                asked.withLock { $0 = true }
                return true
            }, scripts: Self.streaming(1...1))
        let test = try TemporaryDevice()
        let saved = try test.saved(remote)
        let session = try await test.device.connect(to: saved)
        let rows = ScriptedRows()
        let row = BrowsedRow(
            row: ListedRow(id: "fake", name: "Desk", hostID: saved.id),
            endpoints: [try Endpoint(fake.endpoint), try Endpoint("localhost:\(fake.port)")])
        let diary = try await Self.keep(session, of: test, rows: rows) { _, diary in
            rows.list([row])
            await diary.wait(for: .stayed)
            // Listed again and again, it stays what it is.
            for _ in 0..<5 { rows.list([row]) }
            try await Task.sleep(for: .seconds(1))
        }
        #expect(diary.changes.last?.reason == "wrongHost")
        let heard = fake.received
        #expect(heard.count == 1)
        // The device judges the host's key before it sends its own certificate.
        #expect(asked.withLock { !$0 })
        // Its hello, a change of cipher for old boxes on the way, and an alert: no record that could carry more.
        let records = Self.records(heard.first ?? [])
        #expect(records.first?.type == 22)
        for record in records.dropFirst() {
            #expect((record.type == 20 && record.length == 1) || record.length <= Self.alertLength)
        }
    }

    /// A sealed alert: two bytes, its type, and the tag of 16 (RFC 8446 section 5.2).
    static let alertLength = 19

    /// The records of a TLS stream.
    static func records(_ stream: [UInt8]) -> [(type: UInt8, length: Int)] {
        var result: [(type: UInt8, length: Int)] = []
        var rest = stream[...]
        while rest.count >= 5 {
            let header = Array(rest.prefix(5))
            let length = Int(header[3]) << 8 | Int(header[4])
            result.append((header[0], length))
            rest = rest.dropFirst(5 + length)
        }
        return result
    }

    @Test("after its connection broke off it is back by its row, and what is sent meanwhile waits")
    func comesBack() async throws {
        let key = try HostKey.generate()
        let received = Mutex<[UInt8]>([])
        let host = try ScriptedHost(
            key: key,
            scripts: { link in
                try link.send(.windowList, Self.windowList(launch: "L"))
                _ = try link.next(.ping)
            },
            { link in
                try link.send(.windowList, Self.windowList(launch: "M"))
                try link.send(.frame, [7])
                let message = try link.next(.input)
                received.withLock { $0 = message.payload }
                _ = try link.next(.clientStats)
            })
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        let session = try await test.device.connect(to: saved)
        let rows = ScriptedRows()
        let diary = try await Self.keep(session, of: test, rows: rows) { kept, diary in
            await diary.wait(for: .lost)
            let givenUp = Task { try await kept.send(kind: 8, [8]) }
            givenUp.cancel()
            #expect(await failure { try await givenUp.value }?.code == .closed)
            async let sent: Void = kept.send(kind: 8, [9])
            rows.list([try ScriptedRows.row(host, of: saved.id)])
            await diary.wait(for: .connected, count: 2)
            try await sent
            while received.withLock({ $0.isEmpty }) { await Task.yield() }
        }
        #expect(diary.kinds == [.connected, .lost, .dialling, .connected])
        #expect(diary.frames == [7])
        #expect(received.withLock { $0 } == [9])
    }

    @Test("a stranger's alert at the host's row does not end the session")
    func strangersAlert() async throws {
        let host = try ScriptedHost(
            scripts: { link in
                try link.send(.windowList, Self.windowList(launch: "L"))
                _ = try link.next(.ping)
            }, Self.streaming(7...7))
        let address = try #require(SocketAddress("127.0.0.1:0"))
        let listener = try Socket.tcpListener(address, v6Only: false)
        let port = listener.localAddress()?.port ?? 0
        let stranger = Thread {
            guard (try? listener.wait(for: .readable, until: monotonicNow() + .seconds(20))) == true,
                let link = try? accept(on: listener)?.intoSocket()
            else { return }
            let hello = ByteBuffer(capacity: 0)
            _ = try? link.wait(for: .readable, until: monotonicNow() + .seconds(5))
            _ = try? link.read(into: hello, max: 65536)
            // Fatal, bad_certificate: without a key, for whoever asks.
            let alert = ByteBuffer(capacity: 0)
            alert.append([21, 3, 3, 0, 2, 2, 42])
            _ = try? link.write(from: alert)
            _ = try? link.wait(for: .readable, until: monotonicNow() + .seconds(5))
        }
        stranger.start()
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        let session = try await test.device.connect(to: saved)
        let rows = ScriptedRows()
        let fake = BrowsedRow(
            row: ListedRow(id: "fake", name: "Desk", hostID: saved.id),
            endpoints: [try Endpoint("127.0.0.1:\(port)")])
        rows.list([fake])
        let diary = try await Self.keep(session, of: test, rows: rows) { _, diary in
            await diary.wait(for: .failed)
            rows.list([fake, try ScriptedRows.row(host, of: saved.id, name: "Real")])
            while diary.kinds.filter({ $0 == .connected }).count < 2, !diary.kinds.contains(.over) {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        #expect(diary.changes.first { $0.kind == .failed }?.reason == "notSill")
        #expect(!diary.kinds.contains(.over))
    }

    @Test("addresses that the host told during the session bring it back")
    func toldAddresses() async throws {
        let port = Mutex<UInt16>(0)
        let host = try ScriptedHost(
            scripts: { link in
                try link.send(.windowList, Self.windowList(launch: "L"))
                while port.withLock({ $0 }) == 0 { _ = try link.next(.ping) }
                let address = HostAddress(
                    host: "127.0.0.1", port: Int(port.withLock { $0 }), kind: "lan", via: "")
                try link.send(.hostInfo, link.hostInfo(issuedAt: 5, addresses: [address]))
                _ = try link.next(.ping)
            }, Self.streaming(7...7))
        let test = try TemporaryDevice()
        var saved = try test.saved(host)
        saved.addresses = []
        let bare = saved
        _ = try test.device.store.change { $0.change(bare.id) { $0 = bare } }
        let place = DialCandidate(try Endpoint(host.endpoint), door: .home)
        let session = try await test.device.connect(to: saved, at: [place])
        let diary = try await Self.keep(session, of: test, rows: nil) { _, diary in
            await diary.wait(for: .connected)
            port.withLock { $0 = host.port }
            await diary.wait(for: .lost)
            while diary.kinds.filter({ $0 == .connected }).count < 2, !diary.kinds.contains(.over) {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        #expect(diary.kinds == [.connected, .lost, .dialling, .connected])
    }

    @Test("a goodbye that means it ends the session, and what waits to be sent is told")
    func removed() async throws {
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, Self.windowList(launch: "L"))
            _ = try link.next(.ping)
            try link.send(.goodbye, #"{"reason":"removed"}"#)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        let diary = Diary()
        let kept = KeptSession(session, of: test.device, rows: ScriptedRows())
        await kept.run(onChange: { diary.note($0) }, onMessage: { diary.note($0) })
        #expect(diary.kinds == [.connected, .over])
        #expect(diary.changes.last?.reason == "removed")
        #expect(await kept.summary().goodbye?.reason == "removed")
        #expect(await failure { try await kept.send(kind: 8, []) }?.code == .closed)
    }
}
