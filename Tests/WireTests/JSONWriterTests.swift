// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct JSONWriterTests {
    @Test func writesEveryShape() {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("s", "x")
            writer.field("t", true)
            writer.field("i", 42)
            writer.field("m", Int64.min)
            writer.field("u", UInt64.max)
            writer.field("d", 1.5)
            writer.field("j", JSON.array([.null, .integer(1)]))
            writer.field("left", ifPresent: nil as String?)
            writer.field("kept", ifPresent: 3)
            writer.field("b", ifPresent: false)
            writer.field("r", ifPresent: 0.1)
            writer.null("n")
            writer.object("o") { _ in }
            writer.array("a") { writer in
                writer.element("x")
                writer.element(true)
                writer.element(1)
                writer.element(0.5)
                writer.element(.null)
                writer.object { $0.field("k", 1) }
                writer.array { _ in }
                writer.rawElement(Array("[2]".utf8))
            }
            writer.raw("w", Array("{\"z\":1}".utf8))
            writer.field("last", "")
        }
        #expect(
            writer.text
                == #"{"s":"x","t":true,"i":42,"m":-9223372036854775808,"u":18446744073709551615,"d":1.5,"#
                + #""j":[null,1],"kept":3,"b":false,"r":0.1,"n":null,"o":{},"#
                + #""a":["x",true,1,0.5,null,{"k":1},[],[2]],"w":{"z":1},"last":""}"#)
    }

    @Test(
        arguments: [
            (2, "2"), (-2, "-2"), (0, "0"), (-0.0, "0"), (0.1, "0.1"), (1_790_265_600.5, "1790265600.5"),
            (9_007_199_254_740_992, "9007199254740992"), (.nan, "null"), (.infinity, "null"),
            (-.infinity, "null"),
        ] as [(Double, String)])
    func numbers(value: Double, text: String) {
        var writer = JSONWriter(capacity: 0)
        writer.value(.number(value))
        #expect(writer.text == text)
    }

    @Test(arguments: [
        1e16, 1e17, 1e300, -1e300, .leastNonzeroMagnitude, 1e-7, 123456.789e-20, .pi, 0x1p53, 0x1p60, 0x1p63,
        0x1p64,
    ])
    func numbersComeBack(value: Double) throws {
        var writer = JSONWriter()
        writer.value(.number(value))
        #expect(try JSON.parse(writer.bytes).double == value)
    }

    @Test(arguments: [0, 9, 10, 99, 100, 12345, .max, .min, -1, -10, 1_000_000_000_000_000_000] as [Int64])
    func integers(value: Int64) {
        var writer = JSONWriter()
        writer.value(.integer(value))
        #expect(writer.text == "\(value)")
    }

    @Test(arguments: [
        ("", #""""#), ("a/b", #""a/b""#), ("\"\\", #""\"\\""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
        ("\u{0}\u{1}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u001f\u{7F}\""), ("ä😀‑\u{2028}", "\"ä😀‑\u{2028}\""),
    ])
    func strings(value: String, text: String) throws {
        var writer = JSONWriter()
        writer.value(.string(value))
        #expect(writer.text.utf8.elementsEqual(text.utf8))
        #expect(try JSON.parse(writer.bytes) == .string(value))
        var keyed = JSONWriter()
        keyed.object { $0.field(value, 1) }
        #expect(try JSON.parse(keyed.bytes)[value]?.int == 1)
    }

    @Test func treesComeBack() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let tree = randomTree(depth: 0, using: &generator)
            var writer = JSONWriter()
            writer.value(tree)
            #expect(try JSON.parse(writer.bytes) == tree)
        }
    }

    private func randomTree(depth: Int, using generator: inout SeededGenerator) -> JSON {
        switch Int.random(in: 0..<(depth > 4 ? 5 : 7), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &generator))
        case 3: return .number(Double.random(in: -1...1, using: &generator) + 0.123)
        case 4: return .string(generator.text(of: "abc \"\\/\n\u{1}äß😀é", upTo: 30))
        case 5:
            return .array(
                (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                    randomTree(depth: depth + 1, using: &generator)
                })
        default:
            return .object(
                (0..<Int.random(in: 0...10, using: &generator)).map { index in
                    JSON.Member(key: "k\(index)\"", value: randomTree(depth: depth + 1, using: &generator))
                })
        }
    }
}
