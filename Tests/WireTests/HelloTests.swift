// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct HelloTests {
    @Test func emptyIsAHello() throws {
        let hello = try Hello(payload: Array("{}".utf8))
        #expect(hello == Hello())
        #expect(hello.versionOrZero.isZero)
        #expect(Hello().encode() == Array("{}".utf8))
    }

    @Test func allFields() throws {
        let hello = Hello(
            appVersion: "0.3.0", build: "85", device: "iPad (iPad14,1)", protocolGeneration: 1,
            audio: ["opus", "aac"])
        #expect(
            String(decoding: hello.encode(), as: UTF8.self)
                == #"{"appVersion":"0.3.0","build":"85","protocol":1,"device":"iPad (iPad14,1)","audio":["opus","aac"]}"#
        )
        #expect(try Hello(payload: hello.encode()) == hello)
        #expect(hello.versionOrZero == Version("0.3"))
    }

    @Test(arguments: ["dev", "", "v"])
    func otherVersionsAreZero(version: String) {
        #expect(Hello(appVersion: version).versionOrZero == .zero)
    }

    @Test func nullsAndUnknownKeys() throws {
        let text = #"{"appVersion":null,"build":null,"protocol":1.0,"device":null,"audio":null,"new":1}"#
        #expect(try Hello(payload: Array(text.utf8)) == Hello(protocolGeneration: 1))
    }

    @Test(arguments: [
        "", "[]", "null", #"{"appVersion":1}"#, #"{"build":85}"#, #"{"protocol":"1"}"#, #"{"protocol":1.5}"#,
        #"{"device":{}}"#, #"{"audio":"opus"}"#, #"{"audio":[1]}"#, #"{"audio":["opus",null]}"#,
    ])
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try Hello(payload: Array(text.utf8)) }
    }
}
