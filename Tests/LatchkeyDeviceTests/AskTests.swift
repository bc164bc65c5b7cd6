// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Synchronization
import Testing
import Wire

@testable import DeviceCLI
@testable import LatchkeyDevice

@Suite("Asking")
struct AskTests {
    static let recognition = Base64URL.encode([UInt8](repeating: 0x11, count: 32))

    /// Holds whatever is asked: this end is the cable.
    static let claim: @Sendable (IPAddress) -> CableClaim = { _ in .holds(interface: "usb0") }

    /// A host that answers an ask with this, changed as a test wants, and keeps what it was asked.
    private static func host(
        _ asked: Asked = Asked(), change: @escaping @Sendable (inout PairResult) -> Void = { _ in }
    ) throws -> ScriptedHost {
        try ScriptedHost(scripts: { link in
            try asked.note(link.next())
            var result = PairResult(
                ok: true, macID: link.key.fingerprint.id.text, name: "Desk", recognitionKey: recognition,
                method: "cable")
            change(&result)
            try link.send(.pairResult, result.encode())
        })
    }

    @Test("claimed and paired: saved as the cable's")
    func paired() async throws {
        let asked = Asked()
        let host = try Self.host(asked)
        let test = try TemporaryDevice()
        let answer = try await test.device.ask(at: Endpoint(host.endpoint), claim: Self.claim)
        guard case .paired(let saved) = answer.outcome else {
            Issue.record("not paired")
            return
        }
        #expect(saved.id == host.key.fingerprint.id.text && saved.method == "cable" && saved.name == "Desk")
        #expect(try test.device.hosts() == [saved])
        let request = try #require(asked.requests.first)
        #expect(request.method == "ask" && request.proof.isEmpty && request.cable == true)
        #expect(request.version == 1 && request.name == "Test" && request.model == "T1")
    }

    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout PairResult) -> Void
    }

    static let lies = [
        Lie(testDescription: "no method") { $0.method = nil },
        Lie(testDescription: "another method") { $0.method = "Cable" },
        Lie(testDescription: "a proof") { $0.proof = Base64URL.encode([UInt8](repeating: 7, count: 32)) },
        Lie(testDescription: "an empty proof") { $0.proof = "" },
        Lie(testDescription: "no ID") { $0.macID = nil },
        Lie(testDescription: "another ID") { $0.macID = "6J5657TWXV835GZ8" },
        Lie(testDescription: "no recognition key") { $0.recognitionKey = nil },
        Lie(testDescription: "a recognition key of 31 bytes") {
            $0.recognitionKey = Base64URL.encode([UInt8](repeating: 1, count: 31))
        },
        Lie(testDescription: "a recognition key that is no base64") { $0.recognitionKey = "=" },
    ]

    @Test("an ok in any other shape saves nothing", arguments: lies)
    func lie(_ lie: Lie) async throws {
        let host = try Self.host(change: lie.change)
        let test = try TemporaryDevice()
        let error = await failure {
            try await test.device.ask(at: Endpoint(host.endpoint), claim: Self.claim)
        }
        #expect(error?.code == .badAnswer)
        #expect(try test.device.hosts().isEmpty)
    }

    @Test("an ok that nobody claimed saves nothing, and false is never sent")
    func unclaimed() async throws {
        let rows: [((@Sendable (IPAddress) -> CableClaim)?)] = [nil, { _ in .fails(.routable) }]
        for claim in rows {
            let asked = Asked()
            let host = try Self.host(asked)
            let test = try TemporaryDevice()
            let error = await failure { try await test.device.ask(at: Endpoint(host.endpoint), claim: claim) }
            #expect(error?.code == .badAnswer)
            #expect(try test.device.hosts().isEmpty)
            #expect(asked.requests.map(\.cable) == [nil])
        }
    }

    @Test("over loopback the cable is never claimed, and the answer says why")
    func loopback() async throws {
        let asked = Asked()
        let host = try Self.host(asked) { $0 = PairResult.refused(.shown) }
        let test = try TemporaryDevice()
        let answer = try await test.device.ask(at: Endpoint(host.endpoint), mayClaimCable: true)
        #expect(answer.claim == .fails(.notLinkLocal))
        #expect(asked.requests.map(\.cable) == [nil])
        let plain = try await test.device.ask(at: Endpoint(host.endpoint))
        #expect(plain.claim == nil)
    }

    @Test(
        "what is told",
        arguments: [
            (#"{"ok":false,"reason":"shown"}"#, "the host shows a code now: scan it or type it"),
            (#"{"ok":false,"reason":"openOnMac"}"#, "open the pairing window on the host"),
            (#"{"ok":false,"reason":"locked"}"#, "the host is locked"),
            (#"{"ok":false,"reason":"closed"}"#, "the host refused"),
            (#"{"ok":false,"reason":"code","triesLeft":3}"#, "the host refused"),
            (#"{"ok":false}"#, "the host refused"),
            (#"{"ok":false,"reason":"later","message":" a\nb "}"#, "a b"),
        ])
    func told(_ payload: String, _ words: String) async throws {
        let host = try ScriptedHost(scripts: { link in
            _ = try link.next()
            try link.send(.pairResult, payload)
        })
        let test = try TemporaryDevice()
        let answer = try await test.device.ask(at: Endpoint(host.endpoint))
        guard case .told(let refusal) = answer.outcome else {
            Issue.record("paired")
            return
        }
        #expect(refusal.askWords == words)
        #expect(try test.device.hosts().isEmpty)
    }

    @Test("busy is asked again once, and not a third time")
    func busy() async throws {
        let asked = Asked()
        let host = try Self.host(asked) { $0 = PairResult.refused(.busy, retryAfter: 0.1) }
        let test = try TemporaryDevice()
        let answer = try await test.device.ask(at: Endpoint(host.endpoint))
        guard case .told(let refusal) = answer.outcome else {
            Issue.record("paired")
            return
        }
        #expect(refusal.reason == "busy" && asked.requests.count == 2)
    }

    @Test("a code after an ask is for the host that answered it alone")
    func codeAfter() async throws {
        let code = "482913557208"
        let host = try ScriptedHost(
            scripts: { link in
                _ = try link.next()
                try link.send(.pairResult, PairResult.refused(.shown).encode())
            }, { try $0.answerPairing(secret: Array(code.utf8)) })
        let test = try TemporaryDevice()
        let answer = try await test.device.ask(at: Endpoint(host.endpoint))
        let saved = try await test.device.pair(code: code, at: Endpoint(host.endpoint), after: answer)
        #expect(saved.method == "code")
        let other = try ScriptedHost(scripts: { try $0.answerPairing(secret: Array(code.utf8)) })
        let error = await failure {
            try await test.device.pair(code: code, at: Endpoint(other.endpoint), after: answer)
        }
        #expect(error?.code == .wrongHost)
    }

    // MARK: Endpoints with an interface

    @Test("an address with its interface is dialled from this machine alone")
    func zones() throws {
        let here = try Endpoint(here: "[fe80::1%lo]:54021")
        #expect(here.description == "[fe80::1%lo]:54021" && here.host == "fe80::1" && here.port == 54021)
        #expect(here.scoped == IPAddress("fe80::1%1"))
        #expect(try Endpoint(here: here.description) == here)
        #expect(try Endpoint(here: "fe80::1%1").scoped == IPAddress("fe80::1%1"))
        #expect(try Endpoint(here: "fe80::1%1").with(defaultPort: 5).description == "[fe80::1%1]:5")
        #expect(try Endpoint(here: "desk.local:1").scoped == nil)
        #expect(try Endpoint(here: "127.0.0.1:1") == Endpoint("127.0.0.1:1"))
        for text in [
            "[fe80::1%no-such-if]:1", "[fd00::1%lo]:1", "192.168.1.1%lo:1", "desk%lo", "[fe80::1%]:1",
        ] {
            #expect(throws: DeviceError.self) { try Endpoint(here: text) }
        }
        #expect(throws: DeviceError.self) { try Endpoint("[fe80::1%lo]:54021") }
        #expect(SavedAddress.isKeepable(here.host, keepLoopback: true) == false)
    }

    // MARK: The command

    static let lines: [([String], DeviceCommand.Action?)] = [
        (["ask", "--host", "h:1"], .ask(host: "h:1", cable: false, code: nil)),
        (["ask", "--cable", "--host", "h:1"], .ask(host: "h:1", cable: true, code: nil)),
        (
            ["ask", "--host", "h:1", "--then-code", "4829", "1355", "7208"],
            .ask(host: "h:1", cable: false, code: "4829 1355 7208")
        ),
        (["ask"], nil), (["ask", "h:1"], nil), (["ask", "--host", "h:1", "1355"], nil),
        (["pair", "L", "--cable"], nil), (["connect", "--then-code", "1"], nil),
        (["ask", "--cable=yes"], nil),
    ]

    @Test("command lines", arguments: lines)
    func commands(_ arguments: [String], _ want: DeviceCommand.Action?) {
        #expect((try? DeviceCommand(arguments).action) == want)
    }

    @Test("a whole run: refused with its reason, the claim that did not hold, and the code that pairs")
    func run() async throws {
        let code = "482913557208"
        let host = try ScriptedHost(
            scripts: { link in
                _ = try link.next()
                try link.send(.pairResult, PairResult.refused(.shown).encode())
            },
            { link in
                _ = try link.next()
                try link.send(.pairResult, PairResult.refused(.shown).encode())
            }, { try $0.answerPairing(secret: Array(code.utf8)) })
        let test = try TemporaryDevice()
        let said = Mutex((output: "", errors: ""))
        let console = DeviceConsole(
            write: { text in said.withLock { $0.output += text } },
            complain: { text in said.withLock { $0.errors += text } }, environment: { _ in nil },
            isRoot: false, machineName: "Test",
            stopRequest: {
                _ = try? await Task.sleep(for: .seconds(3600))
                return .done
            })
        let line = ["ask", "--host", host.endpoint, "--cable", "--dir", test.directory]
        #expect(await runDevice(line + ["--json"], console).rawValue == 1)
        let first = said.withLock { $0 }
        #expect(
            first.output
                == #"{"ok":false,"reason":"shown","message":"the host shows a code now: scan it or type it","#
                + #""claimed":false,"notClaimed":"notLinkLocal"}"# + "\n")
        #expect(first.errors.contains("not claimed as the cable: the host was not dialled by its IPv6"))
        #expect(await runDevice(line + ["--then-code", code], console).rawValue == 0)
        #expect(said.withLock { $0.output }.contains("Paired with Desk"))
        #expect(await runDevice(["ask", "--host", "127.0.0.1", "--dir", test.directory], console) == .usage)
        #expect(said.withLock { $0.errors }.contains("has no port"))
    }
}

/// The kinds 19 a host was sent.
private final class Asked: Sendable {
    private let list = Mutex<[PairRequest]>([])

    var requests: [PairRequest] { list.withLock { $0 } }

    func note(_ message: Message) throws {
        let request = try PairRequest(payload: message.payload)
        list.withLock { $0.append(request) }
    }
}
