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
    func recognises(given: String, known: String, same: Bool) {
        let name = Self.name(given, ignoringCase: true)
        #expect(name != nil)
        #expect((name == Self.name(known)) == same)
    }

    @Test func caseCountsUnlessIgnored() {
        #expect(Self.name("Door") != ShortName("door"))
        #expect(Self.name("door") == ShortName("door"))
    }

    /// Every byte is taken as `Character` folding would take it in ASCII, and no byte disturbs its neighbours.
    @Test func onlyCapitalLettersFold() {
        for byte in UInt8.min...UInt8.max {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let folded = isCapital ? byte + 32 : byte
            #expect(
                Self.name([97, byte, 90, byte], ignoringCase: true) == Self.name([97, folded, 122, folded]))
        }
    }

    @Test func longerOnesAreNone() {
        #expect(Self.name([UInt8](repeating: 97, count: 16)) != nil)
        #expect(Self.name([UInt8](repeating: 97, count: 17)) == nil)
    }

    private static func name(_ text: String, ignoringCase: Bool = false) -> ShortName? {
        name(Array(text.utf8), ignoringCase: ignoringCase)
    }

    private static func name(_ bytes: [UInt8], ignoringCase: Bool = false) -> ShortName? {
        ShortName(bytes.span, ignoringCase: ignoringCase)
    }
}
