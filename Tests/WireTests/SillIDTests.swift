// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct SillIDTests {
    @Test(arguments: [
        "", "B9X7HK54M3T21PD", "B9X7HK54M3T21PDWW", "b9x7hk54m3t21pdw", "B9X7HK54M3T21PDI",
        "B9X7HK54M3T21PDL",
        "B9X7HK54M3T21PDO", "B9X7HK54M3T21PDU", "B9X7HK54M3T21PD ", "B9X7HK54M3T21PD-", "B9X7HK54M3T21PDÄ",
        "B9X7H\u{212A}54M3T21PDW",
    ])
    func refuses(text: String) {
        #expect(SillID(text) == nil)
    }

    @Test func keepsTextAndSortsLikeIt() {
        let texts = [
            "ZZZZZZZZZZZZZZZZ", "A3C5HR4RBV67YR21", "0000000000000000", "A3C5HR4RBV67YR20",
            "B9X7HK54M3T21PDW",
        ]
        let ids = texts.compactMap { SillID($0) }
        #expect(ids.map(\.text) == texts)
        #expect(ids.sorted().map(\.text) == texts.sorted())
    }
}
