// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct HexTests {
    @Test func writesLowerCaseAndReadsBoth() {
        #expect(Hex.encode([0x00, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
        #expect(Hex.decode("000fa0ff") == [0x00, 0x0F, 0xA0, 0xFF])
        #expect(Hex.decode("000FA0Ff") == [0x00, 0x0F, 0xA0, 0xFF])
        #expect(Hex.decode("") == [])
    }

    @Test(arguments: ["0", "0g", "0x00", " 00", "00 ", "00 00", "００"])
    func refuses(text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
