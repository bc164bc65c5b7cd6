// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct MessageHeaderTests {
    /// The worked headers of file 01 §1.
    @Test(arguments: [
        (
            "1341daad52402000000000000005",
            MessageHeader(kind: .pairRequest, timestamp: 1_790_265_600.5, length: 5)
        ),
        (
            "0100000000000000000102000000",
            MessageHeader(kind: .frame, timestamp: 0, isKeyframe: true, length: 33_554_432)
        ),
        ("173ff00000000000000000000002", MessageHeader(kind: .hello, timestamp: 1, length: 2)),
    ])
    func workedHeaders(hex: String, header: MessageHeader) throws {
        let bytes = try #require(Hex.decode(hex))
        #expect(bytes.count == MessageHeader.size)
        #expect(header.encode() == bytes)
        #expect(WireTests.header(of: bytes) == header)
        var out: [UInt8] = [9]
        header.append(to: &out)
        #expect(out == [9] + bytes)
    }

    @Test func wholeMessage() {
        #expect(
            Hex.encode(encodeMessage(kind: .hello, timestamp: 1, payload: Array("{}".utf8)))
                == "173ff000000000000000000000027b7d")
        #expect(encodeMessage(kind: .pairingWanted, timestamp: 0, payload: []).count == MessageHeader.size)
    }

    @Test(arguments: 0...255)
    func onlyOneIsAKeyframe(byte: UInt8) {
        let bytes = [UInt8](repeating: 0, count: 9) + [byte] + [0, 0, 0, 0]
        #expect(WireTests.header(of: bytes).isKeyframe == (byte == 1))
    }

    @Test(arguments: 0...255)
    func everyKindIsAKind(byte: UInt8) {
        let header = MessageHeader(kind: MessageKind(rawValue: byte), timestamp: 0, length: .max)
        #expect(WireTests.header(of: header.encode()) == header)
    }

    @Test(arguments: [Double.nan, -.infinity, .infinity, -1, 1e300, -0.0, .leastNonzeroMagnitude])
    func timestampsAreNeverJudged(timestamp: Double) {
        let header = MessageHeader(kind: .ping, timestamp: timestamp, length: 8)
        #expect(WireTests.header(of: header.encode()).timestamp.bitPattern == timestamp.bitPattern)
    }

    /// File 01 §2: numbers are never reused.
    @Test func kindNumbers() {
        let kinds: [MessageKind] = [
            .parameterSets, .frame, .windowList, .thumbnail, .appIcon, .appList, .selectSource, .launchApp,
            .input,
            .viewport, .ping, .pong, .clientStats, .tick, .cursorShape, .windowCommand, .hostSettings,
            .changeSettings,
            .hostInfo, .pairRequest, .pairResult, .pairingWanted, .goodbye, .hello, .hostMenu, .pressMenuItem,
            .hostPointer, .fetchMenu, .trackpadGesture, .audio,
        ]
        #expect(kinds.map(\.rawValue) == Array(0...29))
    }

    @Test func caps() {
        #expect(MessageCaps.fromDevice == 1_048_576)
        #expect(MessageCaps.pairing == 4_096)
        #expect(MessageCaps.frame == 33_554_432)
        #expect(MessageCaps.fromHost == 4_194_304)
        for number in UInt8.min...UInt8.max {
            let cap = MessageCaps.hostToDevice(MessageKind(rawValue: number))
            #expect(cap == (number == 1 ? 33_554_432 : 4_194_304))
        }
    }

    @Test func names() {
        #expect(ALPN.session.rawValue == "sill/1")
        #expect(ALPN.pairing.rawValue == "sill-pair/1")
        #expect(defaultRemotePort == 7455)
        #expect(serverName == "sill")
    }
}
