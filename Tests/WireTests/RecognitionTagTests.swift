// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct RecognitionTagTests {
    /// File 02 §11; the HMAC itself is CryptoEngine's, with a test of its own.
    @Test func vector() throws {
        let prefix: [UInt8] = [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6]
        let code = try #require(
            Hex.decode("2f8578ec2b66605c771522936e7633bc2748537c4159de6e85418964553fde53"))
        let text = RecognitionTag.text(prefix: prefix) { message in
            message == ProofText.tag(prefix: prefix) ? code : []
        }
        #expect(text == "oaKjpKWmL4V47Ctm")
        #expect(prefix.count == RecognitionTag.prefixLength)
    }

    /// The tag of the vector, cut, changed at its ends, and under another key.
    @Test(arguments: [
        ("oaKjpKWmL4V47Ctm", true), ("oaKjpKWmL4V47Ctn", false), ("oaKjpKWmL4V47Cs", false),
        ("oaKjpKWmr4V47Ctm", false), ("oaKjpKWmL4V47CtmAA", false), ("oaKjpKWm", false), ("", false),
        ("oaKjpKWmL4V47Ct!", false), ("oqKjpKWmL4V47Ctm", false),
    ])
    func names(_ text: String, _ names: Bool) throws {
        let prefix: [UInt8] = [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6]
        let code = try #require(Hex.decode("2f8578ec2b66605c771522936e7633bc"))
        let found = RecognitionTag.names(text) { $0 == ProofText.tag(prefix: prefix) ? code : [1, 2, 3] }
        #expect(found == names)
        #expect(!RecognitionTag.names(text) { _ in Array(code.reversed()) })
    }
}
