// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct JSONParserTests {
    @Test(
        arguments: [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), (" \t\r\n1 ", .integer(1)),
            ("\u{FEFF}1", .integer(1)), ("\"\"", .string("")), ("[]", .array([])), ("[ ]", .array([])),
            ("{}", .object([])),
            ("{ }", .object([])),
            ("[1,[true],{}]", .array([.integer(1), .array([.bool(true)]), .object([])])),
            (
                "{\"a\":1,\"b\":[]}",
                .object([.init(key: "a", value: .integer(1)), .init(key: "b", value: .array([]))])
            ),
            (
                " { \"a\" : [ 1 , 2 ] } ",
                .object([.init(key: "a", value: .array([.integer(1), .integer(2)]))])
            ),
        ] as [(String, JSON)])
    func reads(text: String, value: JSON) throws {
        #expect(try JSON.parse(text) == value)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1", 1), ("1.0", 1), ("1e0", 1), ("1E0", 1), ("1e+0", 1), ("1e-0", 1),
            ("10e-1", 1),
            ("0.1e1", 1), ("100e-2", 1), ("1.50e1", 15), ("-1.0", -1), ("12e3", 12000),
            ("0e999999999999999999999", 0),
            ("0.000", 0), ("-0.0e5", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775807.0", .max), ("9007199254740993.0", 9_007_199_254_740_993),
            ("1e18", 1_000_000_000_000_000_000),
            ("922337203685477580.7e1", .max), ("1.0000000000000000000000000", 1),
            ("1000000000000000000000000e-20", 10000),
            ("0.00000000000000000000000001e26", 1),
        ] as [(String, Int64)])
    func integersInAnyForm(text: String, value: Int64) throws {
        #expect(try JSON.parse(text) == .integer(value))
    }

    @Test(
        arguments: [
            ("0.5", 0.5), ("-0.5", -0.5), ("1.5", 1.5), ("1e-1", 0.1), ("1790265600.5", 1_790_265_600.5),
            ("9223372036854775808", 9.223372036854775808e18),
            ("-9223372036854775809", -9.223372036854775809e18),
            ("1e19", 1e19), ("1e308", 1e308), ("2.2250738585072014e-308", 2.2250738585072014e-308),
            ("5e-324", .leastNonzeroMagnitude),
            ("1e-400", 0), ("0.1", 0.1), ("1.0000000000000000000001", 1), ("1e22", 1e22), ("1e23", 1e23),
            ("8.5e-22", 8.5e-22), ("100000000000000000000", 1e20),
            ("123456789012345678901234567890", 1.2345678901234568e29),
            ("3.141592653589793238462643383279", 3.141592653589793),
        ] as [(String, Double)])
    func otherNumbers(text: String, value: Double) throws {
        #expect(try JSON.parse(text).double == value)
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "True", "TRUE", "NaN", "nan", "Infinity", "-Infinity", "-", "+1", "01",
        "-01", "00", "1.",
        ".5", "-.5", "1.e1", "1e", "1e+", "1e-", "0x10", "1_000", "1e400", "-1e400",
        "1e999999999999999999999", "1 2",
        "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{", "}", "{1:2}", "{a:1}", "{\"a\"",
        "{\"a\":", "{\"a\":1",
        "{\"a\":1,", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{'a':1}", "'a'", "\"", "\"a",
        "\"\\", "\"\\\"",
        "\"\\x\"", "\"\\U0041\"", "\"\\u\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u-123\"", "\"\n\"", "\"\u{0}\"",
        "\"\u{1F}\"",
        "\"\t\"", "// c\n1", "/**/1", "1//", "{}{}", "[]x", "\u{FEFF}\u{FEFF}1", "\u{A0}1", "1\u{0}", "\u{0}",
    ])
    func refuses(text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(text) }
    }

    @Test(arguments: [
        (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e4\u20AC""#, "Aä€"),
        (#""x\ud83d\ude00y""#, "x😀y"), (#""\uD83D\uDE00""#, "😀"), (#""\u0000""#, "\u{0}"),
        ("\"\u{7F}\"", "\u{7F}"),
        (#""\uFFFF\udbff\udfff""#, "\u{FFFF}\u{10FFFF}"), ("\"Wi‑Fi 😀 ä\"", "Wi‑Fi 😀 ä"), (#""a\/b""#, "a/b"),
        ("\"0123456789abcdef0123456789\"", "0123456789abcdef0123456789"),
    ])
    func strings(text: String, value: String) throws {
        #expect(try JSON.parse(text).string?.utf8.elementsEqual(value.utf8) == true)
    }

    @Test(arguments: [
        #""\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#, #""\ud83d\ud83d""#, #""\ud83d\u0041""#, #""\ude00""#,
        #""\ude00\ud83d""#, #""\ud83d\"#, #""\ud83d\ude""#, #""\ud83d\u""#, #""\udfff""#, #"{"\ud800":1}"#,
    ])
    func halfSurrogatePairs(text: String) {
        #expect(throws: JSONError.self) { try JSON.parse(text) }
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC0, 0x80], [0xC1, 0xBF], [0xE2, 0x82], [0xED, 0xA0, 0x80],
            [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFF], [0xFE],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(throws: JSONError.self) { try JSON.parse([quote] + bytes + [quote]) }
        // The slow way, after an escape, must be as strict.
        #expect(throws: JSONError.self) { try JSON.parse([quote] + Array("\\n".utf8) + bytes + [quote]) }
        #expect(throws: JSONError.self) { try JSON.parse(bytes) }
    }

    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSON.parse(nested(32)).array?.count == 1)
        #expect(throws: JSONError.self) { try JSON.parse(nested(33)) }
        #expect(throws: JSONError.self) { try JSON.parse(String(repeating: "[", count: 1_000_000)) }
        #expect(throws: JSONError.self) { try JSON.parse(String(repeating: "{\"a\":", count: 1_000_000)) }
        // Depth counts what is open, not what was.
        let wide = "[" + Array(repeating: nested(31), count: 100).joined(separator: ",") + "]"
        #expect(try JSON.parse(wide).array?.count == 100)
        let objects = "[" + Array(repeating: "{\"a\":{}}", count: 100).joined(separator: ",") + "]"
        #expect(try JSON.parse(objects).array?.count == 100)
    }

    @Test func numberLengthIsBounded() throws {
        #expect(try JSON.parse("1." + String(repeating: "0", count: 1022)) == .integer(1))
        #expect(throws: JSONError.self) { try JSON.parse("1." + String(repeating: "0", count: 1023)) }
        #expect(throws: JSONError.self) { try JSON.parse(String(repeating: "9", count: 100_000)) }
    }

    @Test func everyTruncationIsRefused() {
        let text = #"{"v":1,"a":[true,null,{"b":"x\u00e4\n"}],"n":-1.5e3,"s":"Wi‑Fi"}"#
        let bytes = Array(text.utf8)
        #expect((try? JSON.parse(bytes)) != nil)
        for count in 0..<bytes.count {
            #expect(throws: JSONError.self) { try JSON.parse(Array(bytes[..<count])) }
        }
    }

    @Test func noiseNeverTraps() {
        var generator = SeededGenerator(seed: 3)
        let seedText = Array(#"{"v":1.5e1,"a":[true,null,{"b":"x\ud83d\ude00"}],"n":-120}"#.utf8)
        var accepted = 0
        for _ in 0..<30_000 {
            var bytes = seedText
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: index)
                }
            }
            guard let value = try? JSON.parse(bytes) else { continue }
            accepted += 1
            // Whatever was read is written as JSON that reads as the same.
            var writer = JSONWriter()
            writer.value(value)
            check((try? JSON.parse(writer.bytes)) == value, String(decoding: bytes, as: UTF8.self))
        }
        #expect(accepted > 100)
    }

    @Test func errorsDoNotQuoteTheText() {
        let secret = "4829135572080"
        for text in ["\"\(secret)", "{\"code\":\(secret)x}", "[\(secret)", "\(secret) \(secret)"] {
            #expect {
                try JSON.parse(text)
            } throws: {
                !"\($0)".contains("48291")
            }
        }
    }
}
