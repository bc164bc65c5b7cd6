// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct PairRequestTests {
    /// The examples of file 02 §5.3, byte for byte.
    @Test(arguments: [
        (
            #"{"v":1,"method":"qr","proof":"AyZAJqNTU5nSKEaHx6RZOf0K5dOeygR_8JSrCV_gNOo","name":"iPad","model":"iPad14,1"}"#,
            PairRequest(
                method: "qr", proof: "AyZAJqNTU5nSKEaHx6RZOf0K5dOeygR_8JSrCV_gNOo", name: "iPad",
                model: "iPad14,1")
        ),
        (
            #"{"v":1,"method":"ask","proof":"","name":"iPad","model":"iPad14,1"}"#,
            PairRequest(method: "ask", name: "iPad", model: "iPad14,1")
        ),
        (
            #"{"v":1,"method":"ask","proof":"","name":"iPad","model":"iPad14,1","cable":true}"#,
            PairRequest(method: "ask", name: "iPad", model: "iPad14,1", cable: true)
        ),
    ])
    func examples(text: String, request: PairRequest) throws {
        #expect(String(decoding: request.encode(), as: UTF8.self) == text)
        #expect(try PairRequest(payload: Array(text.utf8)) == request)
    }

    @Test func cableIsNeverSentAsFalse() {
        let text = String(
            decoding: PairRequest(method: "ask", name: "x", cable: false).encode(), as: UTF8.self)
        #expect(text == #"{"v":1,"method":"ask","proof":"","name":"x"}"#)
    }

    /// File 01 §9.2.
    @Test(arguments: [
        #"{"v":1.0,"method":"qr","proof":"","name":"x"}"#, #"{"v":1e0,"method":"qr","proof":"","name":"x"}"#,
        #" {"name":"x","proof":"","method":"qr","v":1} "#,
        #"{"v":1,"method":"qr","proof":"","name":"x","model":null}"#,
        #"{"v":1,"method":"qr","proof":"","name":"x","cable":null}"#,
        #"{"v":1,"method":"qr","proof":"","name":"x","later":{"a":[1]}}"#,
        #"{"v":1,"method":"qr","proof":"","name":"x","V":"2","Name":2}"#,
        #"{"v":1,"method":"\u0071r","proof":"","name":"x"}"#,
    ])
    func tolerates(text: String) throws {
        #expect(try PairRequest(payload: Array(text.utf8)) == PairRequest(method: "qr", name: "x"))
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"v":"1","method":"qr","proof":"","name":"x"}"#,
        #"{"v":true,"method":"qr","proof":"","name":"x"}"#, #"{"v":1.5,"method":"qr","proof":"","name":"x"}"#,
        #"{"v":null,"method":"qr","proof":"","name":"x"}"#,
        #"{"v":1e30,"method":"qr","proof":"","name":"x"}"#,
        #"{"method":"qr","proof":"","name":"x"}"#, #"{"v":1,"proof":"","name":"x"}"#,
        #"{"v":1,"method":"qr","name":"x"}"#,
        #"{"v":1,"method":"qr","proof":""}"#, #"{"v":1,"method":1,"proof":"","name":"x"}"#,
        #"{"v":1,"method":"qr","proof":null,"name":"x"}"#,
        #"{"v":1,"method":"qr","proof":"","name":"x","model":1}"#,
        #"{"v":1,"method":"qr","proof":"","name":"x","cable":1}"#,
        #"{"v":1,"method":"qr","proof":"","name":"x","cable":"true"}"#,
        #"{"v":1,"method":"qr","proof":"","name":"x"}x"#, #"{"V":1,"method":"qr","proof":"","name":"x"}"#,
    ])
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try PairRequest(payload: Array(text.utf8)) }
    }

    @Test func unknownWordsAndVersionsDecode() throws {
        let request = try PairRequest(payload: Array(#"{"v":-7,"method":"ASK","proof":"?","name":""}"#.utf8))
        #expect(request == PairRequest(version: -7, method: "ASK", proof: "?", name: ""))
    }

    @Test func everyTruncationIsRefused() {
        let bytes = PairRequest(method: "qr", proof: "AyZA", name: "iPad", model: "iPad14,1", cable: true)
            .encode()
        for count in 0..<bytes.count {
            #expect(throws: JSONError.self) { try PairRequest(payload: Array(bytes[..<count])) }
        }
    }
}
