// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

/// 02 §7.3 and 03 §16.
@Suite struct HomeRecordTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let texts: [String]
        let tag: String?
        let door: HomeRecord.Door
        var testDescription: String { "\(texts)" }
    }

    static let rows: [Row] = [
        Row(texts: ["r=oaKjpKWmL4V47Ctm", "p=1"], tag: "oaKjpKWmL4V47Ctm", door: .pairingRequired),
        Row(texts: ["p=0"], tag: nil, door: .open),
        Row(texts: [], tag: nil, door: .plain),
        Row(texts: ["", "=", "=0", "pp=0", "rp=1", "p0", "q=0"], tag: nil, door: .plain),
        // Exactly `0`.
        Row(texts: ["p=2"], tag: nil, door: .pairingRequired),
        Row(texts: ["p"], tag: nil, door: .pairingRequired),
        Row(texts: ["p="], tag: nil, door: .pairingRequired),
        Row(texts: ["p=yes"], tag: nil, door: .pairingRequired),
        Row(texts: ["p= 0"], tag: nil, door: .pairingRequired),
        Row(texts: ["p=00"], tag: nil, door: .pairingRequired),
        // Letter case: lower before upper wherever they stand.
        Row(texts: ["P=0"], tag: nil, door: .open),
        Row(texts: ["P=1", "p=0"], tag: nil, door: .open),
        Row(texts: ["P=0", "p=1"], tag: nil, door: .pairingRequired),
        Row(texts: ["P", "p=0"], tag: nil, door: .open),
        Row(texts: ["R=b", "r=a"], tag: "a", door: .plain),
        Row(texts: ["R=b"], tag: "b", door: .plain),
        // The same key twice: the first.
        Row(texts: ["p=0", "p=1"], tag: nil, door: .open),
        Row(texts: ["r=a", "r=b"], tag: "a", door: .plain),
        // It has a tag, which is none.
        Row(texts: ["r"], tag: "", door: .plain),
        Row(texts: ["r="], tag: "", door: .plain),
        Row(texts: ["r=a=b"], tag: "a=b", door: .plain),
    ]

    @Test(arguments: rows)
    func reads(_ row: Row) {
        let record = HomeRecord(row.texts.map { Array($0.utf8) })
        #expect(record.tag == row.tag && record.door == row.door)
    }

    @Test func bytesThatAreNoText() {
        let record = HomeRecord([[UInt8(ascii: "r"), UInt8(ascii: "="), 0xFF], Array("p=0".utf8)])
        #expect(record.tag == "" && record.door == .open)
    }

    @Test func whatIsFarBackIsNotLookedAt() {
        let noise = [[UInt8]](repeating: Array("x=y".utf8), count: HomeRecord.mostTexts - 1)
        #expect(HomeRecord(noise + [Array("p=0".utf8)]).door == .open)
        #expect(HomeRecord(noise + [Array("x".utf8), Array("p=0".utf8)]).door == .plain)
    }

    @Test(arguments: [true, false])
    func readsWhatIsWritten(_ isPairingRequired: Bool) {
        let record = HomeRecord(HomeRecord.texts(tag: "T", isPairingRequired: isPairingRequired))
        #expect(record.tag == "T" && record.door == (isPairingRequired ? .pairingRequired : .open))
    }
}
