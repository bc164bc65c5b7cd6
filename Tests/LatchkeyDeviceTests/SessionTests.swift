import CryptoEngine
import Foundation
import Synchronization
import Testing
import Wire

@testable import LatchkeyDevice

@Suite("Session")
struct SessionTests {
    @Test("hello comes first, and the first window list connects")
    func hello() async throws {
        let first = Mutex<Message?>(nil)
        let host = try ScriptedHost(scripts: { link in
            let message = try link.next()
            first.withLock { $0 = message }
            try link.send(.hostSettings, "{}")
            try link.send(.windowList, HostLink.windowList)
            _ = try link.next(.clientStats)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        let sent = try #require(first.withLock { $0 })
        #expect(sent.header.kind == .hello)
        let hello = try Hello(payload: sent.payload)
        #expect(hello.appVersion == "1.2")
        #expect(hello.device == "Test (T1)")
        #expect(hello.protocolGeneration == 1)
        #expect(try await session.next()?.kind == 16)
        #expect(try await session.next()?.kind == 2)
        await session.close()
        #expect(try await session.next() == nil)
    }

    @Test("pings go out and pongs are measured")
    func pings() async throws {
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            for _ in 0..<3 {
                let ping = try link.next(.ping)
                try link.send(.pong, ping.payload)
            }
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        var pongs = 0
        for try await message in session where message.kind == 11 { pongs += 1 }
        #expect(pongs == 3)
        let summary = await session.summary()
        #expect(summary.kinds == [2: 1, 11: 3])
        #expect(summary.roundTripMedian != nil)
        #expect(summary.tlsVersion == "TLSv1.3")
    }

    @Test("what a host says again and again is told once")
    func replays() async throws {
        let isFollowed = Mutex(false)
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            while !isFollowed.withLock({ $0 }) { _ = try link.next(.ping) }
            let infos = try [5.0, 4.0, 5.0].map { try link.hostInfo(issuedAt: $0) }
            for _ in 0..<50 {
                try link.send(.windowList, HostLink.windowList)
                for info in infos { try link.send(.hostInfo, info) }
            }
            try link.send(.hostInfo, link.hostInfo(issuedAt: 6))
            for _ in 0..<50 { try link.send(.hostInfo, "{}") }
            try link.send(.goodbye, #"{"reason":"quit"}"#)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        let told = Mutex<[String]>([])
        _ = await session.connection.follow { note in
            let word =
                switch note {
                case .windowList: "list"
                case .hostInfo(let info): info.map { "info \(Int($0.info.issuedAt))" } ?? "bad"
                case .fencePassed: "fence"
                case .ended: "end"
                }
            told.withLock { $0.append(word) }
        }
        isFollowed.withLock { $0 = true }
        while try await session.next() != nil {}
        #expect(told.withLock { $0 } == ["info 5", "info 6", "bad", "end"])
        #expect(await session.summary().kinds[2] == 51)
    }

    @Test("a goodbye's word that could not be shown is no word")
    func escapes() {
        for (reason, want) in [
            ("quit", "quit"), ("\u{1B}[2Jquit", ""), ("quit\u{200B}", ""), ("later", "later"),
        ] {
            let goodbye = SessionGoodbye(Goodbye(reason: reason, minimumVersion: "\u{1B}1"))
            #expect(goodbye.reason == want)
            #expect(goodbye.minimumVersion == "1")
            #expect(!goodbye.words.unicodeScalars.contains("\u{1B}"))
        }
    }

    @Test("a verified, newer host info updates the saved host")
    func hostInfo() async throws {
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            let addresses = [
                HostAddress(host: "192.168.1.20", kind: "lan", via: "Ethernet"),
                HostAddress(host: "fe80::1", kind: "lan", via: "link"),
            ]
            try link.send(
                .hostInfo, link.hostInfo(name: " New\u{202E} name ", issuedAt: 100, addresses: addresses))
            try link.send(.hostInfo, link.hostInfo(name: "Older", issuedAt: 99))
            try link.send(.hostInfo, link.hostInfo(name: "Same age", issuedAt: 100))
            try link.send(.goodbye, #"{"reason":"quit"}"#)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        while try await session.next() != nil {}
        let summary = await session.summary()
        #expect(summary.hostInfo == .verified)
        #expect(summary.goodbye?.reason == "quit")
        let saved = try test.device.host(session.host.id)
        #expect(saved.name == "New name")
        #expect(saved.infoIssuedAt == 100)
        #expect(saved.remotePort == 7455)
        #expect(saved.addresses.map(\.host) == ["192.168.1.20"])
        #expect(saved.lastConnectedAt != nil)
    }

    @Test("an info signed by somebody else changes nothing")
    func replayed() async throws {
        let other = try HostKey.generate()
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            try link.send(.hostInfo, link.hostInfo(name: "Evil", issuedAt: 100, signer: other))
            try link.send(.goodbye, #"{"reason":"quit"}"#)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        while try await session.next() != nil {}
        #expect(await session.summary().hostInfo == .bad)
        #expect(try test.device.host(session.host.id).name == "Old name")
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let goodbye: String
        let want: DeviceError.Code
    }

    static let refusals = [
        Refusal(testDescription: "remoteOff", goodbye: #"{"reason":"remoteOff"}"#, want: .remoteOff),
        Refusal(testDescription: "busy", goodbye: #"{"reason":"busy"}"#, want: .busy),
        Refusal(testDescription: "removed", goodbye: #"{"reason":"removed"}"#, want: .revoked),
        Refusal(
            testDescription: "update", goodbye: #"{"reason":"update","message":"too old","reconnect":false}"#,
            want: .goodbye),
        Refusal(testDescription: "one that does not decode", goodbye: "{}", want: .goodbye),
    ]

    @Test("a goodbye before the first window list is a refusal", arguments: refusals)
    func refused(_ row: Refusal) async throws {
        let host = try ScriptedHost(scripts: { link in
            _ = try link.next()
            try link.send(.goodbye, row.goodbye)
        })
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        let error = await failure { try await test.device.connect(to: saved) }
        #expect(error?.code == row.want)
        #expect(error?.goodbye != nil)
        #expect(error?.summary?.kinds == [22: 1])
        #expect(try test.device.host(saved.id).revoked == (row.want == .revoked))
    }

    @Test("what a host says before it heard a hello counts all the same", arguments: 0..<10)
    func hostSpeaksFirst(_ number: Int) async throws {
        let host = try ScriptedHost(scripts: { link in
            if number % 2 == 0 {
                try link.send(.windowList, HostLink.windowList)
                try link.send(.hostInfo, link.hostInfo(name: "Early", issuedAt: 7))
            }
            try link.send(.goodbye, #"{"reason":"remoteOff"}"#)
        })
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        if number % 2 == 0 {
            let session = try await test.device.connect(to: saved)
            while try await session.next() != nil {}
            #expect(await session.summary().goodbye?.reason == "remoteOff")
            #expect(try test.device.host(saved.id).name == "Early")
        } else {
            #expect(await failure { try await test.device.connect(to: saved) }?.code == .remoteOff)
        }
    }

    @Test("alert 42 after the handshake means revoked, and is remembered")
    func revoked() async throws {
        let host = try ScriptedHost(verify: { _ in false }, scripts: { _ in })
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        let error = await failure { try await test.device.connect(to: saved) }
        #expect(error?.code == .revoked)
        #expect(try test.device.host(saved.id).revoked)
    }

    @Test("another key is another host")
    func wrongHost() async throws {
        let real = try ScriptedHost(scripts: { _ in })
        let other = try ScriptedHost(scripts: { try $0.send(.windowList, HostLink.windowList) })
        let test = try TemporaryDevice()
        let saved = try test.saved(real)
        let place = DialCandidate(try Endpoint(other.endpoint), door: .home)
        let error = await failure { try await test.device.connect(to: saved, at: [place]) }
        #expect(error?.code == .wrongHost)
    }

    @Test("a window list that does not decode does not connect, a later one does")
    func badWindowList() async throws {
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, "{}")
            try link.send(.windowList, #"{"macName":"x","windows":[],"active":{"tab":{}}}"#)
            try link.send(.windowList, HostLink.windowList)
            _ = try link.next(.clientStats)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        #expect(await session.summary().kinds[2] == 3)
        await session.close()
    }

    struct Cap: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: UInt8
        let length: UInt32
        let isTaken: Bool
    }

    static let caps = [
        Cap(testDescription: "a frame of 32 MiB", kind: 1, length: 33_554_432, isTaken: true),
        Cap(testDescription: "a frame of one byte more", kind: 1, length: 33_554_433, isTaken: false),
        Cap(testDescription: "another kind of 4 MiB", kind: 3, length: 4_194_304, isTaken: true),
        Cap(testDescription: "another kind of one byte more", kind: 3, length: 4_194_305, isTaken: false),
    ]

    @Test("caps", arguments: caps)
    func cap(_ row: Cap) async throws {
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            let header = MessageHeader(
                kind: MessageKind(rawValue: row.kind), timestamp: 0, length: row.length)
            try link.sendRaw(header.encode())
            if row.isTaken { try link.sendRaw([UInt8](repeating: 9, count: Int(row.length))) }
            try link.send(.goodbye, #"{"reason":"quit"}"#)
            _ = try link.next(.clientStats)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        var sizes: [UInt8: Int] = [:]
        let error = await failure {
            while let message = try await session.next() { sizes[message.kind] = message.payload.count }
        }
        #expect((error?.code == .protocolError) == !row.isTaken)
        #expect(sizes[row.kind] == (row.isTaken ? Int(row.length) : nil))
    }

    @Test("what the device sends arrives in order")
    func sending() async throws {
        let received = Mutex<[UInt8]>([])
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            for _ in 0..<100 {
                let message = try link.next(.input)
                received.withLock { $0.append(message.payload[0]) }
            }
            try link.send(.goodbye, #"{"reason":"quit"}"#)
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        for number in 0..<100 {
            try await session.send(kind: 8, [UInt8(number)] + [UInt8](repeating: 0, count: 50_000))
        }
        while try await session.next() != nil {}
        #expect(received.withLock { $0 } == (0..<100).map { UInt8($0) })
        let error = await failure { try await session.send(kind: 8, [UInt8](repeating: 0, count: 1_048_577)) }
        #expect(error?.code == .protocolError)
    }

    @Test("a connection that breaks off is lost, not over")
    func brokenOff() async throws {
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            try link.sendRaw(MessageHeader(kind: .frame, timestamp: 0, length: 100).encode())
        })
        let test = try TemporaryDevice()
        let session = try await test.device.connect(to: test.saved(host))
        var kinds: [UInt8] = []
        while let message = try await session.next() { kinds.append(message.kind) }
        // The partial message is dropped, and that is all (01 section 1 rule 4).
        #expect(kinds == [2])
    }
}
