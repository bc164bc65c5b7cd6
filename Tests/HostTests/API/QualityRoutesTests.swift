// SPDX-License-Identifier: Apache-2.0

import APITypes
import LatchkeyClient
import Policy
import Testing
import Wire

@testable import Core
@testable import Host

@Suite("The qualities and the links over the API")
struct QualityRoutesTests {
    /// A session of a streaming process at home.
    static func session() throws -> (service: RunningService, process: Client, path: String) {
        let service = try DelegatedRoutesTests.service()
        let process = try service.client(as: "host")
        let reply = try process.register(
            SessionRequest(connection: DelegatedRoutesTests.connection, fingerprint: DelegatedRoutesTests.key)
        ).value
        let id = try #require(reply.registered?.session.id)
        return (service, process, "/v1/sessions/\(id)")
    }

    static let short = "{\"sent\":54,\"withheld\":6,\"taken\":100000,\"waiting\":50000,\"heard\":true}"

    struct Bad: Sendable, CustomTestStringConvertible {
        let path: String
        let body: String
        let field: String?
        var testDescription: String { "\(path) \(body)" }
    }

    private static func second(_ change: String, _ by: String) -> String {
        "{\"seconds\":[\(short),\(short.replacing(change, with: by))]}"
    }

    static let bad: [Bad] = [
        Bad(path: "/settings", body: "", field: nil), Bad(path: "/settings", body: "[]", field: nil),
        Bad(path: "/settings", body: "{\"bitrate\":\"15\"}", field: "bitrate"),
        Bad(path: "/settings", body: "{\"bitrate\":1.5}", field: "bitrate"),
        Bad(path: "/settings", body: "{\"captureScale\":true}", field: "captureScale"),
        Bad(path: "/settings", body: "{\"maxFPS\":[]}", field: "maxFPS"),
        Bad(path: "/seconds", body: "", field: nil), Bad(path: "/seconds", body: "{}", field: "seconds"),
        Bad(path: "/seconds", body: "{\"seconds\":{}}", field: "seconds"),
        Bad(path: "/seconds", body: second("\"sent\":54", "\"sent\":-1"), field: "seconds[1].sent"),
        Bad(
            path: "/seconds", body: second("\"withheld\":6", "\"withheld\":-6"), field: "seconds[1].withheld"),
        Bad(path: "/seconds", body: second("\"taken\":100000", "\"taken\":0.5"), field: "seconds[1].taken"),
        Bad(
            path: "/seconds", body: second("\"waiting\":50000", "\"waiting\":-1"), field: "seconds[1].waiting"
        ),
        Bad(path: "/seconds", body: second(",\"heard\":true", ""), field: "seconds[1].heard"),
        Bad(path: "/seconds", body: "{\"seconds\":[7]}", field: "seconds[0]"),
        Bad(path: "/seconds", body: "{\"seconds\":[],\"running\":3}", field: "running"),
        Bad(path: "/seconds", body: "{\"seconds\":[],\"running\":{}}", field: "running.bitrate"),
        Bad(
            path: "/seconds",
            body: "{\"seconds\":[],\"running\":{\"bitrate\":4000000,\"fps\":0,\"captureScale\":1}}",
            field: "running.fps"),
        Bad(
            path: "/seconds",
            body: "{\"seconds\":[\(Array(repeating: short, count: 11).joined(separator: ","))]}",
            field: "seconds"),
    ]

    @Test("what is not valid is named, and counts nothing")
    func invalid() throws {
        let (service, process, path) = try Self.session()
        for bad in Self.bad {
            let answer = try service.call("POST", path + bad.path, bad.body, by: process)
            #expect(answer.status == 400, "\(bad.testDescription)")
            #expect(answer.json["field"]?.string == bad.field, "\(bad.testDescription)")
        }
        #expect(try service.client.session(path).link.state == "fine")
        #expect(try service.call("POST", path + "/settings", "{\"bitrate\":4000000}").status == 200)
    }

    @Test("a pick goes to the pair of its session, and is told")
    func pick() throws {
        let (service, process, path) = try Self.session()
        var events = try service.client.events()
        let answer = try service.call(
            "POST", path + "/settings",
            "{\"token\":\"t1\",\"bitrate\":25000000,\"captureScale\":3,\"maxFPS\":60,\"directWireless\":true,\"virtualDisplay\":true}",
            by: process)
        let reply = try QualityPickReply(json: answer.json)
        #expect(
            reply
                == QualityPickReply(
                    applied: ["maxFPS", "bitrate"], refused: ["captureScale", "directWireless"], pair: "home",
                    settings: PickedSettings(maxFPS: 60, bitrate: 25_000_000, captureScale: 2), limited: false
                ))
        let told = try QualityItem(json: DelegatedRoutesTests.event("quality.changed", in: &events))
        let shown = try service.client.quality().value
        #expect(told == shown && shown.home.bitrate == 25_000_000 && shown.away.bitrate == 4_000_000)
        #expect(shown.sessions?.first?.settings == reply.settings && shown.sessions?.first?.away == false)
        #expect(shown.why == QualityItem.Why(home: 1, away: 0, reason: "1 device at home"))
        let settings = try service.client.settings().value
        #expect(settings.home.bitrate == 25_000_000 && settings.maxFPS == 60)
        let audit = try service.call("GET", "/v1/audit").json["items"]?.array?.first
        #expect(audit?["action"]?.string == "quality.pick" && audit?["actor"]?.string == "token:host")
        #expect(
            audit?["detail"]?.string
                == "frame rate limit 120 → 60, bitrate 15 → 25 Mbps per 60 fps, on this network")
    }

    /// The texts themselves, so that a name that writer and reader get wrong alike is noticed (06 C1, 09.22, 09.24).
    @Test("every member has its name, and null stands only where it is meant")
    func names() throws {
        let (service, process, path) = try Self.session()
        let id = String(path.dropFirst("/v1/sessions/".count))
        var events = try service.client.events()
        func text(_ method: String, _ path: String, _ body: String? = nil) throws -> String {
            try process.call(method: method, path: path, body: body).body
        }
        func told(_ type: String) throws -> JSON {
            guard case .object(let members) = try DelegatedRoutesTests.event(type, in: &events) else {
                return .null
            }
            #expect(members.contains { $0.key == "at" && $0.value.string != nil })
            return .object(members.filter { $0.key != "at" })
        }
        #expect(
            try text("POST", path + "/settings", "{\"captureScale\":1,\"bitrate\":5,\"maxFPS\":60}")
                == "{\"applied\":[\"maxFPS\",\"captureScale\"],\"refused\":[\"bitrate\"],\"pair\":\"home\",\"settings\":"
                + "{\"maxFPS\":60,\"bitrate\":15000000,\"captureScale\":1},\"limited\":false}")
        let begin =
            "{\"runs\":\"home\",\"home\":{\"bitrate\":15000000,\"captureScale\":1},\"away\":{\"bitrate\":4000000,"
            + "\"captureScale\":1},\"maxFPS\":60,\"why\":{\"home\":1,\"away\":0,\"reason\":\"1 device at home\"},\"running\":"
        let session =
            "{\"id\":\"\(id)\",\"away\":false,\"settings\":{\"maxFPS\":60,\"bitrate\":15000000,\"captureScale\":1}"
        let quiet =
            begin + "{\"bitrate\":15000000,\"fps\":60,\"captureScale\":1},\"sessions\":[\(session)}]}"
        #expect(try text("GET", "/v1/quality") == quiet)
        #expect(try told("quality.changed") == JSON.parse(quiet))

        let running = "\"running\":{\"bitrate\":15000000,\"fps\":48,\"captureScale\":2}"
        let seconds = "[\(Self.short),\(Self.short),\(Self.short)]"
        let link =
            "\"state\":\"behind\",\"withheldPerSecond\":6,\"bitrate\":12000000,\"carriedKbps\":800,"
            + "\"suggestedBitrate\":4000000,\"suggestedCaptureScale\":1"
        #expect(
            try text("POST", path + "/seconds", "{\"seconds\":\(seconds),\(running)}")
                == "{\"state\":\"behind\",\"link\":{\(link)}}")
        let who = "{\"session\":\"\(id)\",\"device\":{\"id\":\"\(try service.client.devices().items[0].id)\","
        #expect(try told("link.changed") == JSON.parse(who + "\"name\":\"Device 1\"},\(link)}"))
        #expect(
            try text("GET", "/v1/quality")
                == begin + "{\"bitrate\":15000000,\"fps\":48,\"captureScale\":2},"
                + "\"sessions\":[\(session),\"link\":{\(link)}}]}")
        #expect(
            try text("GET", path).hasSuffix(
                "\"link\":{\"state\":\"behind\",\"carriedKbps\":800,\"suggestion\":{\"bitrate\":4000000,"
                    + "\"captureScale\":1}}}"))
        #expect(
            try text("POST", path + "/seconds", "{\"seconds\":[],\"running\":null}") == "{\"state\":\"fine\"}"
        )
        let fine = "\"state\":\"fine\",\"withheldPerSecond\":0,\"bitrate\":15000000"
        #expect(try told("link.changed") == JSON.parse(who + "\"name\":\"Device 1\"},\(fine)}"))
        #expect(try text("GET", "/v1/quality") == begin + "null,\"sessions\":[\(session)}]}")
        let status = try JSON.parse(text("GET", "/v1/status"))
        #expect(try status["quality"] == JSON.parse("{\"runs\":\"home\"}"))
    }

    @Test("the fifth pick of a second is answered, and changes nothing")
    func limited() throws {
        let (service, process, path) = try Self.session()
        var limited: [Bool] = []
        for rate in [4, 8, 15, 25, 40, 80] {
            let answer = try service.call(
                "POST", path + "/settings", "{\"bitrate\":\(rate)000000}", by: process)
            #expect(answer.status == 200)
            limited.append(try QualityPickReply(json: answer.json).limited)
        }
        // A slow machine may take more than a second for six; then later ones apply.
        #expect(limited.prefix(4).allSatisfy { !$0 })
        let last = try #require([4, 8, 15, 25, 40, 80].indices.last { !limited[$0] })
        #expect(try service.client.quality().value.home.bitrate == [4, 8, 15, 25, 40, 80][last] * 1_000_000)
    }

    @Test("seconds give the verdict, its event and the session's link; another stream takes it back")
    func seconds() throws {
        let (service, process, path) = try Self.session()
        var events = try service.client.events()
        let three = "{\"seconds\":[\(Self.short),\(Self.short),\(Self.short)]}"
        let reply = try LinkReply(json: service.call("POST", path + "/seconds", three, by: process).json)
        #expect(
            reply
                == LinkReply(
                    state: "behind",
                    link: LinkReportItem(
                        state: "behind", withheldPerSecond: 6, bitrate: 15_000_000, carriedKbps: 800,
                        suggestedBitrate: 4_000_000, suggestedCaptureScale: 1)))
        let told = try LinkEvent(json: DelegatedRoutesTests.event("link.changed", in: &events))
        #expect(told.link == reply.link && told.device?.name == "Device 1")
        #expect(try service.client.quality().value.sessions?.first?.link == reply.link)
        #expect(
            try service.client.session(path).link
                == LinkItem(
                    state: "behind", carriedKbps: 800,
                    suggestion: LinkItem.Suggestion(bitrate: 4_000_000, captureScale: 1)))
        let running = "{\"seconds\":[],\"running\":{\"bitrate\":15000000,\"fps\":120,\"captureScale\":1.9}}"
        #expect(
            try service.call("POST", path + "/seconds", running, by: process).json["state"]?.string == "fine")
        let back = try LinkEvent(json: DelegatedRoutesTests.event("link.changed", in: &events))
        #expect(back.link == LinkReportItem(state: "fine", withheldPerSecond: 0, bitrate: 30_000_000))
        #expect(
            try service.client.quality().value.running
                == RunningItem(bitrate: 15_000_000, fps: 120, captureScale: 2))
        _ = try service.call("POST", path + "/seconds", "{\"seconds\":[],\"running\":null}", by: process)
        #expect(try service.client.quality().value.running == nil)
    }

    @Test("a session that was told to go, and one that is gone")
    func gone() throws {
        let (service, process, path) = try Self.session()
        _ = try service.call("POST", path + "/close", "{}")
        let ending = try service.call("POST", path + "/settings", "{\"maxFPS\":60}", by: process)
        #expect(ending.status == 409 && ending.json["code"]?.string == "sessionClosing")
        #expect(try service.call("DELETE", path, by: process).status == 200)
        for call in ["/settings", "/seconds"] {
            let body = call == "/seconds" ? "{\"seconds\":[]}" : "{\"maxFPS\":60}"
            let answer = try service.call("POST", path + call, body, by: process)
            #expect(answer.status == 404 && answer.json["code"]?.string == "sessionNotFound")
        }
        #expect(try service.client.quality().value.sessions == [])
    }
}

extension Client {
    fileprivate func session(_ path: String) throws -> SessionItem {
        try SessionItem(json: JSON.parse(Array(call(method: "GET", path: path).body.utf8)))
    }
}
