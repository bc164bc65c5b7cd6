// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct GoodbyeTests {
    @Test(arguments: [
        (Goodbye.removed, "removed"), (.remoteOff, "remoteOff"), (.internetOff, "internetOff"),
        (.quit, "quit"),
        (.busy, "busy"), (.pairingRequired, "pairingRequired"),
    ])
    func simpleOnesAreExactlyTheReason(goodbye: Goodbye, reason: String) throws {
        #expect(String(decoding: goodbye.encode(), as: UTF8.self) == #"{"reason":"\#(reason)"}"#)
        #expect(try Goodbye(payload: goodbye.encode()) == goodbye)
    }

    @Test func theOthers() throws {
        let minimum = try #require(Version("v0.4.0"))
        let texts = [
            Goodbye.update(minimum: minimum, message: "Old."), .noHost("None."), .ended("Why."), .ended(nil),
        ]
        .map { String(decoding: $0.encode(), as: UTF8.self) }
        #expect(
            texts == [
                #"{"reason":"update","message":"Old.","minimumVersion":"0.4","reconnect":false}"#,
                #"{"reason":"noHost","message":"None.","reconnect":true}"#,
                #"{"reason":"ended","message":"Why.","reconnect":false}"#,
                #"{"reason":"ended","reconnect":false}"#,
            ])
    }

    @Test(arguments: [
        "", "{}", #"{"reason":null}"#, #"{"reason":1}"#, #"{"message":"x"}"#,
        #"{"reason":"quit","reconnect":1}"#,
        #"{"reason":"quit","message":1}"#, #"{"reason":"quit","minimumVersion":1}"#, "quit", "\"quit\"",
    ])
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try Goodbye(payload: Array(text.utf8)) }
    }

    @Test func laterReasonsDecode() throws {
        let text = #"{"reason":"moved","message":null,"reconnect":true,"where":"there"}"#
        #expect(try Goodbye(payload: Array(text.utf8)) == Goodbye(reason: "moved", reconnect: true))
    }
}
