// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct LabelTests {
    /// File 02 §10, then each category.
    @Test(arguments: [
        ("iPad (iPad14,1)", "iPad (iPad14,1)"), ("iPad\n\tPro", "iPad Pro"), ("iPad\u{202E}dáPi", "iPaddáPi"),
        ("  iPad \u{A0}\u{3000}  mini  ", "iPad mini"),
        (String(repeating: "x", count: 500), String(repeating: "x", count: 64)),
        ("", ""), (" \n ", ""), ("\u{200B}\u{0}", ""), ("a\u{2028}b\u{2029}c\u{85}d", "a b c d"),
        ("a\u{7F}b", "ab"),
        ("a \u{200B} b", "a b"), ("a\u{200B} b", "a b"), ("a \u{200B}b", "a b"),
        ("a\u{E000}\u{378}b", "ab"),
        ("\u{FEFF}a", "a"), ("a\u{AD}b", "ab"), ("a\u{200D}b", "ab"), ("\r\na\r\n", "a"),
        ("<b>x</b>", "<b>x</b>"),
        ("e\u{301}", "e\u{301}"), ("Tom & Jerry’s", "Tom & Jerry’s"), ("日本語 テスト", "日本語 テスト"),
    ])
    func cleans(text: String, cleaned: String) {
        #expect(Label.clean(text).unicodeScalars.elementsEqual(cleaned.unicodeScalars))
    }

    @Test func theLimitCountsGraphemes() {
        let accented = String(repeating: "e\u{301}\u{302}", count: 100)
        #expect(Label.clean(accented).count == 64)
        #expect(Label.clean(accented).unicodeScalars.count == 192)
        #expect(Label.clean(String(repeating: "🇩🇪", count: 70)) == String(repeating: "🇩🇪", count: 64))
        #expect(Label.clean(String(repeating: "x", count: 64)).count == 64)
        #expect(Label.clean(String(repeating: "x", count: 400), limit: 300).count == 300)
        #expect(Label.clean("abc", limit: 0).isEmpty)
    }

    @Test func noSpaceIsLeftAtTheCut() {
        let text = String(repeating: "x", count: 63) + " y"
        #expect(Label.clean(text) == String(repeating: "x", count: 63))
        #expect(Label.clean("a b", limit: 2) == "a")
    }

    @Test func cleaningTwiceChangesNothing() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let once = Label.clean(generator.text(of: "ab \n\u{200B}\u{A0}\u{301}🇩😀\u{202E}\r", upTo: 90))
            check(Label.clean(once) == once && once.count <= 64, once)
        }
    }
}
