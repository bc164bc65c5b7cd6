// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct ShortNameTests {
    @Test(arguments: [
        ("host", "host", true), ("HoSt", "host", true), ("hosts", "host", false), ("hos", "host", false),
        ("", "host", false), ("", "", true), ("content-length", "content-length", true),
        ("content-lengtg", "content-length", false), ("dontent-length", "content-length", false),
        ("\0host", "host", false), ("host\0", "host", false), ("sixteen-bytes-is", "sixteen-bytes-is", true),
        ("sixteen_bytes-is", "sixteen-bytes-is", false), ("h0st", "hPst", false),
    ])
    func recognises(given: String, known: String, same: Bool) throws {
        let name = try #require(ShortName(Array(given.utf8).span, ignoringCase: true))
        let expected = try #require(ShortName(Array(known.utf8).span))
        #expect((name == expected) == same)
    }

    @Test func caseCountsUnlessIgnored() {
        #expect(ShortName(Array("Door".utf8).span) != ShortName("door"))
        #expect(ShortName(Array("door".utf8).span) == ShortName("door"))
    }

    @Test func longerOnesAreNone() {
        #expect(ShortName([UInt8](repeating: 97, count: 17).span) == nil)
    }
}
