// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Doors

@Suite("Pairing exchange")
struct PairingExchangeTests {
    // A span cannot go through `#expect`.
    func judge(_ bytes: [UInt8]) -> PairingExchange.Verdict { PairingExchange.judge(bytes.span) }

    static let request = PairRequest(version: 1, method: "qr", proof: "AAAA", name: "iPad")

    @Test("a whole kind 19 is a request at its last byte, and more behind it changes nothing")
    func whole() {
        let bytes = encodeMessage(kind: .pairRequest, timestamp: 0, payload: Self.request.encode())
        for length in bytes.indices {
            #expect(judge(Array(bytes[..<length])) == .wait)
        }
        #expect(judge(bytes) == .request(Self.request))
        #expect(judge(bytes + [1, 2, 3]) == .request(Self.request))
    }

    @Test(
        "anything else is bad as soon as it shows",
        arguments: [
            message(23), [20], message(19), message(19, 3),
            MessageHeader(kind: .pairRequest, timestamp: 0, length: 4097).encode(),
            message(19, 4096, fill: 0x20),
            Array("GET / HTTP/1.1\r\n".utf8),
        ])
    func bad(_ bytes: [UInt8]) { #expect(judge(bytes) == .bad) }
}

@Suite("Gate reader")
struct GateReaderTests {
    func judge(_ bytes: [UInt8]) -> GateReader.Verdict { Self.gate.judge(bytes.span) }

    static let gate = GateReader(floor: Version("1.2") ?? .zero)

    static func hello(_ version: String?) -> [UInt8] {
        encodeMessage(
            kind: .hello, timestamp: 0, payload: Hello(appVersion: version, device: "iPad").encode())
    }

    @Test(
        "a hello against floor 1.2",
        arguments: [("1.2", true), ("1.3.4", true), ("1.1", false), (nil, false), ("dev", false)])
    func floor(version: String?, admitted: Bool) {
        let hello = Hello(appVersion: version, device: "iPad")
        let want: GateReader.Verdict = admitted ? .admit(hello) : .refuse(hello: hello)
        #expect(judge(Self.hello(version)) == want)
    }

    @Test("waits for the last byte of a hello, and not for the payload of anything else")
    func waiting() {
        let bytes = Self.hello("2")
        for length in bytes.indices { #expect(judge(Array(bytes[..<length])) == .wait) }
        #expect(judge([10]) == .refuse(hello: nil))
        #expect(judge(message(23)) == .refuse(hello: nil))
        let long = MessageHeader(kind: .hello, timestamp: 0, length: 1_048_577).encode()
        #expect(judge(long) == .refuse(hello: nil))
    }
}

@Suite("Unsent age")
struct UnsentAgeTests {
    @Test("the age is that of the oldest byte, and taking something moves both")
    func ages() {
        var age = UnsentAge()
        age.note(taken: 0, waiting: 0, at: .seconds(1))
        #expect(age.oldest == nil && age.waitingSince == nil)
        age.note(taken: 10, waiting: 5, at: .seconds(2))
        #expect(age.oldest == .seconds(2) && age.waitingSince == .seconds(2))
        age.note(taken: 10, waiting: 9, at: .seconds(3))
        #expect(age.oldest == .seconds(2) && age.waitingSince == .seconds(2))
        age.note(taken: 12, waiting: 7, at: .seconds(4))
        #expect(age.oldest == .seconds(2) && age.waitingSince == .seconds(4))
        age.note(taken: 15, waiting: 4, at: .seconds(5))
        #expect(age.oldest == .seconds(3) && age.waitingSince == .seconds(5))
        age.note(taken: 19, waiting: 0, at: .seconds(6))
        #expect(age.oldest == nil && age.waitingSince == nil)
        age.note(taken: 20, waiting: 1, at: .seconds(7))
        #expect(age.oldest == .seconds(7))
    }

    @Test("bytes that come together share a mark, the older time")
    func steps() {
        var age = UnsentAge()
        age.note(taken: 0, waiting: 10, at: .seconds(1))
        age.note(taken: 0, waiting: 20, at: .seconds(1.05))
        age.note(taken: 10, waiting: 10, at: .seconds(1.06))
        #expect(age.oldest == .seconds(1))
    }
}
