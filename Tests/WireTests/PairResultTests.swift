// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct PairResultTests {
    private static let key = "ERERERERERERERERERERERERERERERERERERERERERE"

    /// The examples of file 02 §5.4, byte for byte.
    @Test(arguments: [
        (
            #"{"ok":true,"proof":"XAX-uZPsq_Ax8fvI_sV7Ex0a-ROi19rI-FW-ykPh9TE","macID":"A3C5HR4RBV67YR21","name":"Mac mini","#
                + #""recognitionKey":"ERERERERERERERERERERERERERERERERERERERERERE"}"#,
            PairResult(
                ok: true, proof: "XAX-uZPsq_Ax8fvI_sV7Ex0a-ROi19rI-FW-ykPh9TE", macID: "A3C5HR4RBV67YR21",
                name: "Mac mini", recognitionKey: key)
        ),
        (
            #"{"ok":true,"method":"cable","macID":"A3C5HR4RBV67YR21","name":"Mac mini","#
                + #""recognitionKey":"ERERERERERERERERERERERERERERERERERERERERERE"}"#,
            PairResult(
                ok: true, macID: "A3C5HR4RBV67YR21", name: "Mac mini", recognitionKey: key, method: "cable")
        ),
        (#"{"ok":false,"reason":"code","triesLeft":4}"#, .refused(.code, triesLeft: 4)),
        (#"{"ok":false,"reason":"busy","retryAfter":2}"#, .refused(.busy, retryAfter: 2)),
        (#"{"ok":false,"reason":"busy","retryAfter":0.2}"#, .refused(.busy, retryAfter: 0.2)),
        (#"{"ok":false,"reason":"shown"}"#, .refused(.shown)),
        (#"{"ok":false,"reason":"openOnMac"}"#, .refused(.openOnMac)),
        (
            #"{"ok":false,"reason":"later","message":"Words"}"#,
            PairResult(ok: false, reason: "later", message: "Words")
        ),
    ])
    func examples(text: String, result: PairResult) throws {
        #expect(String(decoding: result.encode(), as: UTF8.self) == text)
        #expect(try PairResult(payload: Array(text.utf8)) == result)
    }

    @Test func theEightReasons() {
        #expect(
            PairResult.Reason.allCases.map(\.rawValue)
                == ["code", "closed", "expired", "stopped", "busy", "shown", "openOnMac", "locked"])
    }

    @Test(
        arguments: [
            (0, 0), (0.01, 0.1), (0.1, 0.1), (0.3, 0.3), (0.7, 0.7), (0.70001, 0.8), (1, 1), (1.05, 1.1),
            (2, 2), (4.99, 5),
            (-1, 0), (.nan, 0), (.infinity, 0), (0.1 + 0.2, 0.4),
        ] as [(Double, Double)])
    func retryAfterRoundsUp(seconds: Double, rounded: Double) {
        #expect(PairResult.roundedUp(retryAfter: seconds) == rounded)
    }

    @Test func retryAfterIsNeverEarly() {
        for step in 0..<10_000 {
            let seconds = Double(step) * 0.0007
            let rounded = PairResult.roundedUp(retryAfter: seconds)
            check(rounded >= seconds && rounded < seconds + 0.1, "\(seconds)")
        }
        for tenths in 0..<1000 {
            let seconds = Double(tenths) / 10
            check(PairResult.roundedUp(retryAfter: seconds) == seconds, "\(seconds)")
        }
    }

    @Test(arguments: [
        "", "{}", #"{"ok":1}"#, #"{"ok":"true"}"#, #"{"ok":null}"#, #"{"ok":false,"reason":1}"#,
        #"{"ok":false,"triesLeft":"4"}"#, #"{"ok":false,"triesLeft":4.5}"#, #"{"ok":false,"retryAfter":"2"}"#,
        #"{"ok":false,"retryAfter":true}"#, #"{"ok":true,"proof":1}"#,
    ])
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try PairResult(payload: Array(text.utf8)) }
    }

    @Test func toleratesNullsAndForms() throws {
        let text =
            #"{"triesLeft":4.0,"reason":"code","proof":null,"later":[{}],"ok":false,"retryAfter":null}"#
        #expect(try PairResult(payload: Array(text.utf8)) == .refused(.code, triesLeft: 4))
    }
}
