// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct TypedCodeTests {
    @Test func example() {
        #expect(TypedCode.make(randomDigits: [4, 8, 2, 9, 1, 3, 5, 5, 7, 2, 0]) == "482913557208")
        #expect(TypedCode.isValid("482913557208"))
        #expect(!TypedCode.isValid("731022849915"))
        #expect(TypedCode.grouped("482913557208") == "4829 1355 7208")
    }

    @Test(arguments: [
        "482913557208", "4829 1355 7208", "4829-1355-7208", "4829\u{A0}1355\u{A0}7208",
        "-4 8-2 9 1355 7208 -",
    ])
    func reads(typed: String) throws {
        #expect(try TypedCode.read(typed) == "482913557208")
    }

    @Test(arguments: [
        "", "48291355720", "4829135572080", "4829\u{2013}1355\u{2013}7208", "4829\t1355\t7208",
        "482913557208\n",
        "4829\u{2003}1355 7208", "48291355720８", "48291355720a", "4829\u{2011}1355 7208", "４８２９13557208",
        "482913557208\u{301}", "- -",
    ])
    func lengthProblems(typed: String) {
        #expect(throws: TypedCode.Problem.length) { try TypedCode.read(typed) }
    }

    @Test(arguments: ["482913557209", "4829 1355 7280", "7310 2284 9915", "842913557208"])
    func typos(typed: String) {
        #expect(throws: TypedCode.Problem.typo) { try TypedCode.read(typed) }
    }

    /// What the check digit is for: every single wrong digit, every swap of two neighbours.
    @Test func everySlipIsCaught() {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<200 {
            let random = (0..<11).map { _ in UInt8.random(in: 0...9, using: &generator) }
            let code = TypedCode.make(randomDigits: random)
            #expect(TypedCode.isValid(code))
            let digits = Array(code)
            for index in digits.indices {
                for other in "0123456789" where other != digits[index] {
                    var wrong = digits
                    wrong[index] = other
                    check(!TypedCode.isValid(String(wrong)), String(wrong))
                }
                if index > 0, digits[index] != digits[index - 1] {
                    var swapped = digits
                    swapped.swapAt(index, index - 1)
                    check(!TypedCode.isValid(String(swapped)), String(swapped))
                }
            }
        }
    }

    @Test(arguments: ["", "4829", "482913557208 ", "48291355720x"])
    func otherTextsAreNotValid(text: String) {
        #expect(!TypedCode.isValid(text))
    }
}
