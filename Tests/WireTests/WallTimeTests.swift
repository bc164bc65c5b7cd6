// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct WallTimeTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_796_022_853_123, "2026-11-30T07:14:13.123Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func bothWays(milliseconds: Int64, text: String) {
        #expect(WallTime(milliseconds: milliseconds).rfc3339 == text)
        #expect(WallTime(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:01Z", 1000), ("1970-01-01t00:00:01z", 1000), ("1970-01-01 00:00:01Z", 1000),
            ("1970-01-01T00:00:00.5Z", 500), ("1970-01-01T00:00:00.12Z", 120),
            ("1970-01-01T00:00:00.1239999Z", 123),
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T23:30:00-00:30", 0),
            ("1970-01-01T00:00:60Z", 60_000),
        ] as [(String, Int64)])
    func readsOtherForms(text: String, milliseconds: Int64) {
        #expect(WallTime(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-11-30", "2026-11-30T07:14:13", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00",
        "2026-01-01T00:00:00+01:00x", "2026-01-01T00:00:00Zx", " 2026-01-01T00:00:00Z",
        "+026-01-01T00:00:00Z",
    ])
    func refuses(text: String) {
        #expect(WallTime(rfc3339: text) == nil)
    }

    @Test func everyDayComesBack() {
        var day: Int64 = -62_167_219_200_000
        while day < 253_402_300_800_000 {
            check(WallTime(rfc3339: WallTime(milliseconds: day).rfc3339)?.milliseconds == day, "\(day)")
            day += 86_400_000 * 97
        }
    }

    @Test func extremesAreText() {
        for value in [Int64.min, .max] {
            #expect(WallTime(milliseconds: value).rfc3339.utf8.count == 24)
        }
        #expect(WallTime(seconds: .nan).milliseconds == 0)
        #expect(WallTime(seconds: .infinity).milliseconds == .max)
        #expect(WallTime(seconds: -1e300).milliseconds == .min)
        #expect(WallTime(seconds: 1_790_265_600.5).milliseconds == 1_790_265_600_500)
        #expect(WallTime(milliseconds: 1_790_265_600_500).seconds == 1_790_265_600.5)
    }
}
