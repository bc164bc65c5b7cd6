import CryptoEngine
import Foundation
import Synchronization
import Testing
import Wire

@testable import LatchkeyDevice

@Suite("Pairing")
struct PairingTests {
    static let secret = [UInt8](0..<16)

    @Test("a right answer saves the host")
    func byLink() async throws {
        let host = try ScriptedHost(scripts: { try $0.answerPairing(secret: Self.secret) })
        let test = try TemporaryDevice()
        let saved = try await test.device.pair(link: link(to: host, secret: Self.secret))
        #expect(saved.id == host.key.fingerprint.id.text)
        #expect(saved.method == "qr")
        #expect(saved.name == "Desk")
        #expect(try test.device.hosts() == [saved])
        #expect(saved.addresses.map(\.host) == ["127.0.0.1"])
    }

    @Test("the typed code, spaces and all")
    func byCode() async throws {
        let code = "482913557208"
        let host = try ScriptedHost(scripts: { try $0.answerPairing(secret: Array(code.utf8)) })
        let test = try TemporaryDevice()
        let saved = try await test.device.pair(code: "4829 1355-7208", at: Endpoint(host.endpoint))
        #expect(saved.method == "code")
        #expect(try test.device.host(saved.id).typedAddresses.map(\.port) == [Int(host.port)])
    }

    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout PairResult) -> Void
    }

    static let lies = [
        Lie(testDescription: "no proof") { $0.proof = nil },
        Lie(testDescription: "another proof") {
            $0.proof = Base64URL.encode([UInt8](repeating: 7, count: 32))
        },
        Lie(testDescription: "a short proof") { $0.proof = $0.proof.map { String($0.dropLast(4)) } },
        Lie(testDescription: "no ID") { $0.macID = nil },
        Lie(testDescription: "another ID") { $0.macID = "6J5657TWXV835GZ8" },
        Lie(testDescription: "no recognition key") { $0.recognitionKey = nil },
        Lie(testDescription: "a recognition key of 31 bytes") {
            $0.recognitionKey = Base64URL.encode([UInt8](repeating: 1, count: 31))
        },
        Lie(testDescription: "the cable's shape") {
            $0.method = "cable"
            $0.proof = nil
        },
    ]

    @Test("an ok that proves nothing saves nothing", arguments: lies)
    func lie(_ lie: Lie) async throws {
        let host = try ScriptedHost(scripts: { try $0.answerPairing(secret: Self.secret, change: lie.change) }
        )
        let test = try TemporaryDevice()
        let error = await failure { try await test.device.pair(link: link(to: host, secret: Self.secret)) }
        #expect(error?.code == .badAnswer)
        #expect(try test.device.hosts().isEmpty)
    }

    @Test("another key at the address never sees our certificate")
    func wrongHost() async throws {
        let asked = Mutex(false)
        let host = try ScriptedHost(
            verify: { _ in
                asked.withLock { $0 = true }
                return true
            }, scripts: { try $0.answerPairing(secret: Self.secret) })
        let other = try ScriptedHost(scripts: { _ in })
        let test = try TemporaryDevice()
        let text = try link(to: other, secret: Self.secret, port: host.port)
        let error = await failure { try await test.device.pair(link: text) }
        #expect(error?.code == .wrongHost)
        #expect(asked.withLock { !$0 })
        #expect(try test.device.hosts().isEmpty)
    }

    @Test("addresses are tried one after the other")
    func secondAddress() async throws {
        let host = try ScriptedHost(scripts: { try $0.answerPairing(secret: Self.secret) })
        let impostor = try ScriptedHost(scripts: { try $0.answerPairing(secret: Self.secret) })
        let test = try TemporaryDevice()
        let text = try link(
            to: host, secret: Self.secret, addresses: ["127.0.0.1:\(impostor.port)", host.endpoint])
        let saved = try await test.device.pair(link: text)
        #expect(saved.id == host.key.fingerprint.id.text)
    }

    @Test("busy is tried again once, silently")
    func busyOnce() async throws {
        let host = try ScriptedHost(
            scripts: { link in
                _ = try link.next()
                try link.send(.pairResult, PairResult.refused(.busy, retryAfter: 0.1).encode())
            }, { try $0.answerPairing(secret: Self.secret) })
        let test = try TemporaryDevice()
        _ = try await test.device.pair(link: link(to: host, secret: Self.secret))
        #expect(try test.device.hosts().count == 1)
    }

    @Test("busy twice is told")
    func busyTwice() async throws {
        let host = try ScriptedHost(scripts: { link in
            _ = try link.next()
            try link.send(.pairResult, PairResult.refused(.busy, retryAfter: 0.1).encode())
        })
        let test = try TemporaryDevice()
        let error = await failure { try await test.device.pair(link: link(to: host, secret: Self.secret)) }
        #expect(error?.refusal?.reason == "busy")
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let payload: String
        let want: PairingRefusal
    }

    static let answers = [
        Answer(
            testDescription: "tries left", payload: #"{"ok":false,"reason":"code","triesLeft":4}"#,
            want: PairingRefusal(reason: "code", triesLeft: 4, retryAfter: nil, message: nil)),
        Answer(
            testDescription: "negative tries", payload: #"{"ok":false,"reason":"code","triesLeft":-1}"#,
            want: PairingRefusal(reason: "code", triesLeft: 0, retryAfter: nil, message: nil)),
        Answer(
            testDescription: "a known reason words itself",
            payload: #"{"ok":false,"reason":"closed","message":"visit evil.example"}"#,
            want: PairingRefusal(reason: "closed", triesLeft: nil, retryAfter: nil, message: nil)),
        Answer(
            testDescription: "a later reason brings words",
            payload: #"{"ok":false,"reason":"later","message":" a\nb "}"#,
            want: PairingRefusal(reason: "later", triesLeft: nil, retryAfter: nil, message: "a b")),
        Answer(
            testDescription: "no reason at all", payload: #"{"ok":false}"#,
            want: PairingRefusal(reason: "", triesLeft: nil, retryAfter: nil, message: nil)),
    ]

    @Test("a refusal is told as it is", arguments: answers)
    func refusals(_ row: Answer) async throws {
        let host = try ScriptedHost(scripts: { link in
            _ = try link.next()
            try link.send(.pairResult, row.payload)
        })
        let test = try TemporaryDevice()
        let error = await failure { try await test.device.pair(link: link(to: host, secret: Self.secret)) }
        #expect(error?.code == .pairingRefused)
        #expect(error?.refusal == row.want)
        #expect(try test.device.hosts().isEmpty)
    }

    @Test("what cannot be an answer saves nothing", arguments: ["", "{", #"{"ok":1}"#, "[]"])
    func noAnswer(_ payload: String) async throws {
        let host = try ScriptedHost(scripts: { link in
            _ = try link.next()
            try link.send(.pairResult, payload)
        })
        let test = try TemporaryDevice()
        let error = await failure { try await test.device.pair(link: link(to: host, secret: Self.secret)) }
        #expect(error?.code == .badAnswer)
    }

    @Test("an answer over the cap is not read")
    func tooLong() async throws {
        let host = try ScriptedHost(scripts: { link in
            _ = try link.next()
            try link.send(.pairResult, [UInt8](repeating: 0x20, count: 4097))
        })
        let test = try TemporaryDevice()
        let error = await failure { try await test.device.pair(link: link(to: host, secret: Self.secret)) }
        #expect(error?.code == .protocolError)
    }

    @Test("alert 42 means that no window is open")
    func notPairing() async throws {
        let host = try ScriptedHost(verify: { _ in false }, scripts: { _ in })
        let test = try TemporaryDevice()
        let error = await failure { try await test.device.pair(link: link(to: host, secret: Self.secret)) }
        #expect(error?.code == .notPairing)
    }

    @Test("what makes no sense is told before anything is dialled")
    func nothingSent() async throws {
        let test = try TemporaryDevice()
        let place = try Endpoint("127.0.0.1:9")
        #expect(await failure { try await test.device.pair(link: "https://example.net") }?.code == .badLink)
        #expect(
            await failure { try await test.device.pair(code: "4829 1355 7207", at: place) }?.code == .codeTypo
        )
        #expect(await failure { try await test.device.pair(code: "4829", at: place) }?.code == .codeLength)
        let home = try link(to: ScriptedHost(scripts: { _ in }), secret: Self.secret, addresses: [])
        #expect(await failure { try await test.device.pair(link: home) }?.code == .noAddress)
    }

    @Test("nobody there")
    func nobody() async throws {
        let test = try TemporaryDevice()
        let free: UInt16 = try {
            let host = try ScriptedHost(scripts: { _ in })
            return host.port
        }()
        _ = free
        let error = await failure {
            try await test.device.pair(code: "4829 1355 7208", at: Endpoint("127.0.0.1:1"))
        }
        #expect(error?.code == .refused)
        #expect(error?.reachedPeer == false)
    }
}

/// The error of something that must fail; nil when it did not.
func failure<R>(_ body: () async throws -> R) async -> DeviceError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? DeviceError
    }
}
