// SPDX-License-Identifier: Apache-2.0

import APITypes
import LatchkeyClient
import Policy
import Testing
import Wire

@testable import Core
@testable import Host

@Suite("Admissions")
struct AdmissionRoutesTests {
    private static let key = RunningService.fingerprint(1)

    static let bad: [(String, String?)] = [
        ("", nil), ("[]", nil), ("{}", "door"), ("{\"door\":\"side\",\"remote\":\"1.2.3.4:5\"}", "door"),
        ("{\"door\":1,\"remote\":\"1.2.3.4:5\"}", "door"), ("{\"door\":\"home\"}", "remote"),
        ("{\"door\":\"home\",\"remote\":\"1.2.3.4\"}", "remote"),
        ("{\"door\":\"home\",\"remote\":\"1.2.3.4:70000\"}", "remote"),
        ("{\"door\":\"home\",\"remote\":\"1.2.3.4:5\",\"local\":\"x\"}", "local"),
        ("{\"door\":\"home\",\"remote\":\"1.2.3.4:5\",\"alpn\":\"sill/1\"}", "fingerprint"),
        ("{\"door\":\"home\",\"remote\":\"1.2.3.4:5\",\"fingerprint\":\"\"}", "alpn"),
        ("{\"door\":\"home\",\"remote\":\"1.2.3.4:5\",\"alpn\":\"\",\"fingerprint\":\"AA\"}", "fingerprint"),
    ]

    @Test("what is not valid is named", arguments: bad)
    func invalid(_ body: String, _ field: String?) throws {
        let service = try RunningService()
        let answer = try service.call("POST", "/v1/admissions", body)
        #expect(answer.status == 400)
        #expect(answer.json["field"]?.string == field)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var door = "home"
        var remote = "192.168.1.77:50122"
        var rest = ""
        let decision: String
        var reason: String?
    }

    static let rows = [
        Row(testDescription: "before TLS", decision: "continue"),
        Row(
            testDescription: "a paired key", rest: ",\"alpn\":\"sill/1\",\"fingerprint\":\"\(key)\"",
            decision: "session"),
        Row(
            testDescription: "another key",
            rest: ",\"alpn\":\"sill/1\",\"fingerprint\":\"\(RunningService.fingerprint(2))\"",
            decision: "refuse", reason: "unpaired"),
        Row(
            testDescription: "no key", rest: ",\"alpn\":\"sill/1\",\"fingerprint\":\"\"", decision: "refuse",
            reason: "unpaired"),
        Row(
            testDescription: "pairing at home",
            rest: ",\"alpn\":\"sill-pair/1\",\"fingerprint\":\"\(RunningService.fingerprint(2))\"",
            decision: "pairing"),
        Row(
            testDescription: "the internet at home", remote: "203.0.113.7:50122", decision: "refuse",
            reason: "internet"),
        Row(
            testDescription: "absent and null are one",
            rest: ",\"local\":null,\"interface\":null,\"alpn\":null,\"fingerprint\":null",
            decision: "continue"),
        Row(
            testDescription: "a named zone", remote: "[fe80::1%usb0]:50122", rest: ",\"interface\":\"usb0\"",
            decision: "continue"),
        Row(
            testDescription: "the remote door while remote access is off", door: "remote",
            rest: ",\"alpn\":\"sill/1\",\"fingerprint\":\"\(key)\"", decision: "goodbye"),
    ]

    @Test("decides", arguments: rows)
    func decides(_ row: Row) throws {
        let service = try RunningService()
        try service.addDevices(1)
        let answer = try service.call(
            "POST", "/v1/admissions", "{\"door\":\"\(row.door)\",\"remote\":\"\(row.remote)\"\(row.rest)}",
            by: service.client(as: "host"))
        #expect(answer.status == 200)
        let reply = try AdmissionReply(json: answer.json)
        #expect(reply.decision == row.decision && reply.reason == row.reason)
        #expect((reply.goodbye != nil) == (row.decision == "goodbye"))
        #expect((reply.device?.name == "Device 1") == row.rest.contains(Self.key))
    }

    static let spellings = [
        #"{"door":"home","remote":"192.168.1.77:50122","alpn":"sill/1","fingerprint":"KEY"}"#,
        " {\n\t\"remote\" : \"192.168.1.77:50122\" ,\r\n \"door\":\"home\", \"fingerprint\":\"KEY\",\"alpn\":\"sill/1\" } ",
        #"{"door":"home","remote":"192.168.1.77:50122","alpn":"sill\/1","fingerprint":"KEY"}"#,
        #"{"d\u006for":"home","remote":"192.168.1.77:50122","alpn":"sill/1","fingerprint":"KEY"}"#,
        #"{"x":{"door":"side"},"door":"home","remote":"192.168.1.77:50122","alpn":"sill/1","fingerprint":"KEY"}"#,
        #"{"door":"home","door":"remote","remote":"192.168.1.77:50122","alpn":"sill/1","fingerprint":"KEY"}"#,
        #"{"note":"ä","door":"home","remote":"192.168.1.77:50122","alpn":"sill/1","fingerprint":"KEY"}"#,
        #"{"door":"home","remote":"[::ffff:192.168.1.77]:50122","alpn":"sill/1","fingerprint":"KEY"}"#,
    ]

    @Test("one question in any spelling is one question", arguments: spellings)
    func spelling(_ text: String) throws {
        let query = try AdmissionBody.read(Array(text.replacing("KEY", with: Self.key).utf8))
        let plain = try AdmissionBody.read(Array(Self.spellings[0].replacing("KEY", with: Self.key).utf8))
        #expect(
            query.door == plain.door && query.remote == plain.remote && query.handshake == plain.handshake)
        #expect(query.handshake?.alpn == "sill/1")
    }

    @Test("the short way never reads what the long way would refuse")
    func bothWays() throws {
        let text = Array(Self.spellings[0].replacing("KEY", with: Self.key).utf8)
        for cut in 0..<text.count {
            #expect(throws: (any Error).self) { try AdmissionBody.read(Array(text[..<cut])) }
        }
        for index in text.indices {
            for byte in [0, 0x22, 0x2C, 0x5C, 0x6E, 0x7B, 0x7D, 0x80] as [UInt8] {
                var changed = text
                changed[index] = byte
                guard AdmissionText(changed.span) != nil else { continue }
                #expect((try? JSON.parse(changed)) != nil)
            }
        }
    }

    @Test("an answer is JSON whatever a device is called")
    func names() throws {
        for name in ["plain", "with \"quotes\" and \\", "Ä 😀", "tab\there"] {
            let answer = AdmissionAnswer(
                decision: .session, origin: .lan, cable: true, route: "on this network", away: false,
                device: CoreDeviceRef(id: try #require(SillID("23HFPR8JRVAXWESF")), name: name))
            let reply = try AdmissionReply(json: JSON.parse(AdmissionBody.write(answer)))
            #expect(reply.device?.name == name && reply.cable && reply.route == "on this network")
        }
    }
}
