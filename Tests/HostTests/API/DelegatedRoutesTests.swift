// SPDX-License-Identifier: Apache-2.0

import APITypes
import CryptoEngine
import LatchkeyClient
import Policy
import Sockets
import Testing
import Wire

@testable import Core
@testable import Host

@Suite("Delegated mode over the API")
struct DelegatedRoutesTests {
    static let key = RunningService.fingerprint(1)
    static let connection = ConnectionFacts(door: "home", remote: "192.168.1.77:50122")

    static func service() throws -> RunningService {
        let service = try RunningService("--home-port", "off", "--remote-port", "off")
        try service.addDevices(1)
        return service
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let path: String
        let body: String
        let field: String?
        var testDescription: String { "\(path) \(body)" }
    }

    private static let facts = "\"door\":\"home\",\"remote\":\"1.2.3.4:5\""

    static let bad: [Bad] =
        [
            "/v1/admissions/failures", "/v1/pairing/requests", "/v1/sessions",
        ].flatMap { path in
            [
                Bad(path: path, body: "", field: nil), Bad(path: path, body: "[]", field: nil),
                Bad(path: path, body: "{}", field: "door"),
                Bad(path: path, body: "{\"door\":\"home\"}", field: "remote"),
            ]
        } + [
            Bad(path: "/v1/admissions/failures", body: "{\(facts)}", field: "failure"),
            Bad(path: "/v1/admissions/failures", body: "{\(facts),\"failure\":\"Http\"}", field: "failure"),
            Bad(path: "/v1/admissions/failures", body: "{\(facts),\"failure\":null}", field: "failure"),
            Bad(
                path: "/v1/admissions/failures",
                body: "{\(facts),\"failure\":\"http\",\"fingerprint\":\"AA\"}",
                field: "fingerprint"),
            Bad(
                path: "/v1/admissions/failures",
                body: "{\"door\":\"home\",\"remote\":\"1.2.3.4\",\"failure\":\"http\"}", field: "remote"),
            Bad(path: "/v1/pairing/requests", body: "{\(facts),\"payload\":{}}", field: "fingerprint"),
            Bad(path: "/v1/pairing/requests", body: "{\(facts),\"fingerprint\":\"\"}", field: "payload"),
            Bad(
                path: "/v1/pairing/requests", body: "{\(facts),\"fingerprint\":\"\",\"payload\":null}",
                field: "payload"),
            Bad(
                path: "/v1/pairing/requests",
                body: "{\(facts),\"alpn\":\"sill/1\",\"fingerprint\":\"\",\"payload\":{}}", field: "alpn"),
            Bad(path: "/v1/sessions", body: "{\(facts)}", field: "fingerprint"),
            Bad(path: "/v1/sessions", body: "{\(facts),\"fingerprint\":\"x\"}", field: "fingerprint"),
            Bad(
                path: "/v1/sessions", body: "{\(facts),\"fingerprint\":\"\",\"hello\":\"hi\"}", field: "hello"
            ),
            Bad(
                path: "/v1/sessions", body: "{\(facts),\"fingerprint\":\"\",\"alpn\":\"sill-pair/1\"}",
                field: "alpn"),
            Bad(
                path: "/v1/sessions", body: "{\(facts),\"local\":\"x\",\"fingerprint\":\"\"}", field: "local"),
            Bad(path: "/v1/identity/signatures", body: "{}", field: "algorithm"),
            Bad(
                path: "/v1/identity/signatures", body: "{\"algorithm\":\"rsa\",\"digest\":\"\"}",
                field: "algorithm"),
            Bad(
                path: "/v1/identity/signatures",
                body: "{\"algorithm\":\"ecdsa-p256-sha256\",\"digest\":\"AAAA\"}", field: "digest"),
        ]

    @Test("what is not valid is named, and counts nothing")
    func invalid() throws {
        let service = try Self.service()
        for bad in Self.bad {
            let answer = try service.call("POST", bad.path, bad.body)
            #expect(answer.status == 400, "\(bad.testDescription)")
            #expect(answer.json["field"]?.string == bad.field, "\(bad.testDescription)")
        }
        let page = try service.client.call(method: "GET", path: "/metrics").body
        #expect(page.contains("latchkey_refusals_total{door=\"home\",word=\"unpaired\"} 0\n"))
    }

    @Test("a session is registered, listed, told to go, and deleted")
    func session() throws {
        let service = try Self.service()
        let process = try service.client(as: "host")
        let hello = try JSON.parse("{\"appVersion\":\"2.1\",\"device\":\"iPad\"}")
        var events = try service.client.events()
        let reply = try process.register(
            SessionRequest(connection: Self.connection, fingerprint: Self.key, hello: hello)
        ).value
        let session = try #require(reply.registered)
        #expect(session.session.mode == "delegated" && session.session.device?.name == "Device 1")
        #expect(session.session.hello?.appVersion == "2.1" && session.quality.runs == "home")
        var info = JSONWriter()
        info.value(session.hostInfo)
        let signed = try SignedHostInfo(payload: info.bytes)
        #expect(try HostInfo(payload: signed.info).macID == process.identity().value.hostID)
        let id = session.session.id
        #expect(try process.sessions().items.map(\.id) == [id])
        let who = try service.call("GET", "/v1/whois?remote=192.168.1.77:50122", by: process)
        #expect(who.json["session"]?["id"]?.string == id)
        // An admin ends it; the process hears of it, says so, and is done.
        _ = try service.client.close(session: id, message: "Lunch")
        let closing = try Self.event("session.closing", in: &events)
        #expect(closing["id"]?.string == id && closing["goodbye"]?["reason"]?.string == "ended")
        #expect(closing["goodbye"]?["message"]?.string == "Lunch")
        #expect(
            try service.call("GET", "/v1/sessions/\(id)").json["goodbye"]?["reason"]?.string == "ended")
        #expect(try process.ended(session: id).value.closed)
        let closed = try Self.event("session.closed", in: &events)
        #expect(closed["id"]?.string == id && closed["ended"]?.string == "goodbye")
        let again = try service.call("DELETE", "/v1/sessions/\(id)", by: process)
        #expect(again.status == 404 && again.json["code"]?.string == "sessionNotFound")
        for path in ["/hello", "/pairing-wanted"] {
            #expect(try service.call("POST", "/v1/sessions/\(id)\(path)", "{}", by: process).status == 404)
        }
    }

    @Test("a process that starts forgets what its former run left")
    func startsAnew() throws {
        let service = try Self.service()
        for port in 1...3 {
            let connection = ConnectionFacts(door: "home", remote: "192.168.1.77:\(port)")
            let reply = try service.client.register(
                SessionRequest(connection: connection, fingerprint: Self.key)
            ).value
            #expect(reply.registered != nil)
        }
        #expect(try service.client.endSessions().value.closedSessions == 3)
        #expect(try service.client.sessions().items.isEmpty)
        #expect(try service.client.endSessions().value.closedSessions == 0)
    }

    @Test("what is no session is a goodbye, or nothing at all")
    func noSession() throws {
        let service = try Self.service()
        func register(_ door: String, _ key: String, _ hello: String? = nil) throws -> SessionReply {
            let connection = ConnectionFacts(door: door, remote: "192.168.1.77:50122", local: nil)
            let hello = try hello.map { try JSON.parse($0) }
            return try service.client.register(
                SessionRequest(connection: connection, fingerprint: key, hello: hello)
            ).value
        }
        let off = try register("remote", Self.key)
        #expect(off.registered == nil && off.goodbye?.reason == "remoteOff" && off.reason == nil)
        let unpaired = try register("home", RunningService.fingerprint(2))
        #expect(unpaired.registered == nil && unpaired.goodbye == nil && unpaired.reason == "unpaired")
        #expect(try register("home", "").reason == "unpaired")
        #expect(try service.call("PATCH", "/v1/settings", "{\"minimumDeviceVersion\":\"2\"}").status == 200)
        for hello in [nil, "{}", "{\"appVersion\":2}", "{\"appVersion\":\"1.9\"}"] {
            let old = try register("home", Self.key, hello)
            #expect(old.goodbye?.reason == "update" && old.goodbye?.minimumVersion == "2.0")
        }
        #expect(try register("home", Self.key, "{\"appVersion\":\"2\"}").registered != nil)
        let late = try (0..<2).map { _ in try register("home", Self.key).delay }
        #expect(late == [nil, 2])
    }

    @Test("a hello and a wish to pair that come later")
    func later() throws {
        let service = try Self.service()
        for (path, body) in [
            ("/v1/lock", "{\"locked\":false}"), ("/v1/settings", "{\"requirePairing\":false}"),
        ] {
            let method = path == "/v1/lock" ? "PUT" : "PATCH"
            #expect(try service.call(method, path, body).status == 200)
        }
        let stranger = try service.client.register(
            SessionRequest(connection: Self.connection, fingerprint: RunningService.fingerprint(9))
        ).value
        let id = try #require(stranger.registered?.session.id)
        let bad = try service.call("POST", "/v1/sessions/\(id)/hello", "{\"appVersion\":1}")
        #expect(bad.status == 400 && bad.json["field"]?.string == "appVersion")
        try service.client.hello(Hello(device: "iPad"), session: id)
        #expect(
            try service.call("GET", "/v1/sessions/\(id)").json["hello"]?["device"]?.string == "iPad")
        try service.client.pairingWanted(session: id)
        #expect(
            try service.call("GET", "/v1/pairing/window").json["askedBy"]?["name"]?.string == "iPad")
    }

    @Test("a device pairs by a message that a process delivers")
    func pairs() throws {
        let service = try Self.service()
        let process = try service.client(as: "host")
        let window = try Window(
            json: service.call("POST", "/v1/pairing/window", "{\"remote\":false}").json)
        let link = try PairingLink.parse(window.url)
        let device = try HostKey.generate()
        let text = ProofText.device(fpDevice: device.fingerprint, fpMac: link.fingerprint)
        func deliver(_ proof: [UInt8], port: Int) throws -> PairingMessageReply {
            let request = PairRequest(method: "qr", proof: Base64URL.encode(proof), name: "Pad")
            return try process.pair(
                PairingMessageRequest(
                    connection: ConnectionFacts(door: "home", remote: "192.168.1.7\(port):50122"),
                    fingerprint: device.fingerprint.base64url, payload: JSON.parse(request.encode()))
            ).value
        }
        let wrong = try deliver([UInt8](repeating: 1, count: 32), port: 1)
        #expect(wrong.close && wrong.payload?["reason"]?.string == "code")
        #expect(wrong.payload?["triesLeft"]?.int == 4)
        #expect(
            try deliver([], port: 2).payload?["reason"]?.string == "busy")
        // The spacing is the window's own; a right proof is judged after it.
        let right = Digest.hmacSHA256(key: link.secret, message: text)
        var answer = try deliver(right, port: 3)
        let deadline = monotonicNow() + .seconds(20)
        while answer.payload?["reason"]?.string == "busy", monotonicNow() < deadline {
            answer = try deliver(right, port: 3)
        }
        #expect(answer.payload?["ok"]?.bool == true && answer.reason == nil)
        let proof = Base64URL.decode(answer.payload?["proof"]?.string ?? "") ?? []
        #expect(
            proof
                == Digest.hmacSHA256(
                    key: link.secret,
                    message: ProofText.mac(fpDevice: device.fingerprint, fpMac: link.fingerprint)))
        let session = try process.register(
            SessionRequest(connection: Self.connection, fingerprint: device.fingerprint.base64url)
        ).value
        #expect(session.registered?.session.device?.name == "Pad")
    }

    @Test("a message that is none is one failure; who is not admitted hears nothing")
    func badMessages() throws {
        let service = try Self.service()
        let payloads = [
            "{}", "[]", "\"qr\"", "1", "{\"v\":1,\"method\":\"qr\",\"proof\":1,\"name\":\"x\"}",
            "{\"v\":1,\"method\":\"qr\",\"proof\":\"\",\"name\":\"\(String(repeating: "x", count: 5_000))\"}",
        ]
        for (number, payload) in payloads.enumerated() {
            let body = "{\"door\":\"home\",\"remote\":\"10.0.0.\(number):1\",\"fingerprint\":\"\(Self.key)\","
            let answer = try service.call("POST", "/v1/pairing/requests", body + "\"payload\":\(payload)}")
            #expect(answer.status == 422 && answer.json["code"]?.string == "badPairingMessage")
        }
        let page = try service.client.call(method: "GET", path: "/metrics").body
        #expect(page.contains("latchkey_refusals_total{door=\"home\",word=\"unpaired\"} \(payloads.count)\n"))
        let ask = try JSON.parse(PairRequest(method: "ask", name: "x").encode())
        for (remote, word) in [("203.0.113.9:1", "internet"), ("[fe80::1%wg7]:2", "vpn")] {
            let reply = try service.client.pair(
                PairingMessageRequest(
                    connection: ConnectionFacts(door: "home", remote: remote), fingerprint: Self.key,
                    payload: ask)
            ).value
            #expect(reply.payload == nil && reply.close && reply.reason == word)
        }
    }

    @Test("failures close the door to their source")
    func failures() throws {
        let service = try Self.service()
        let process = try service.client(as: "host")
        for _ in 0..<5 {
            try process.failed(FailureRequest(connection: Self.connection, failure: "http"))
        }
        let reply = try process.admission(
            AdmissionRequest(door: "home", remote: Self.connection.remote)
        ).value
        #expect(reply.decision == "refuse" && reply.reason == "limit")
    }

    @Test("a signature is of the host's key, and is audited as a count")
    func signatures() throws {
        let service = try Self.service()
        let process = try service.client(as: "host")
        let message = Array("what a handshake hashes".utf8)
        let digest = Digest.sha256(message)
        let signature = try #require(Base64URL.decode(process.sign(digest: digest).value.signature))
        let point = try #require(Base64URL.decode(process.identity().value.publicKey))
        #expect(try PublicKey(point: point).verify(signature: signature, of: message))
        var refused: Problem?
        for _ in 0..<2_000 where refused == nil {
            do throws(ClientError) { _ = try process.sign(digest: digest) } catch {
                if case .refused(let problem) = error { refused = problem }
            }
        }
        // Whether a test gets so far depends on how fast the machine is; what it hears then does not.
        if let refused { #expect(refused.status == 429 && refused.code == "rateLimited") }
        let rows = try service.client.audit().items.filter { $0.action == "identity.sign" }
        #expect(rows.map(\.actor) == ["token:host"] && rows.first?.detail == "1 signature")
    }

    @Test("a remote window needs no door of the service's own")
    func remoteWindow() throws {
        let service = try Self.service()
        let window = try service.call("POST", "/v1/pairing/window", "{\"remote\":true}")
        #expect(window.status == 201 && window.json["remote"]?.bool == true)
        let doors = try service.call("GET", "/v1/status").json["doors"]
        for door in ["home", "remote"] { #expect(doors?[door]?["state"]?.string == "closed") }
        #expect(try service.call("GET", "/healthz").json["status"]?.string == "ok")
        #expect(try service.call("PATCH", "/v1/settings", "{\"remotePort\":8123}").status == 200)
        let link = try PairingLink.parse(service.call("GET", "/v1/pairing/window").json["url"]?.string ?? "")
        #expect(link.port == 8123)
        let stranger = try service.client.admission(
            AdmissionRequest(
                door: "remote", remote: "192.168.1.77:1", alpn: "sill-pair/1",
                fingerprint: RunningService.fingerprint(5))
        ).value
        #expect(stranger.decision == "pairing")
    }

    @Test("a link-local device is one, by name and by index")
    func zones() throws {
        let service = try Self.service()
        let named = ConnectionFacts(door: "home", remote: "[fe80::1%lo]:50122")
        let first = try service.client.register(
            SessionRequest(connection: named, fingerprint: Self.key)
        ).value
        #expect(first.registered != nil)
        for remote in ["[fe80::1%25lo]:50122", "[fe80::1%251]:50122", "[fe80::1]:50122"] {
            let who = try service.call("GET", "/v1/whois?remote=\(remote)")
            #expect(who.json["session"]?["id"]?.string == first.registered?.session.id, "\(remote)")
        }
        #expect(try service.call("GET", "/v1/whois?remote=[fe80::1%25eth77]:50122").status == 404)
    }

    /// The data of the next event of a type.
    static func event(_ type: String, in stream: inout EventStream) throws -> JSON {
        let deadline = monotonicNow() + .seconds(20)
        while let more = try stream.next(until: deadline), !more.isEmpty {
            if let found = more.first(where: { $0.type == type }) { return found.data }
        }
        return .null
    }
}
