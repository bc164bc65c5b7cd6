// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
    /// The longest number in bytes. Longer ones say nothing that a Double could hold.
    static let numberLimit = 1024

    /// Reads the number that begins at the next byte, which is a digit or a minus sign.
    mutating func parseNumber(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        let start = index
        let isNegative = bytes[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let first = index
        var decimal = Decimal()
        try parseDigits(bytes, into: &decimal)
        guard bytes[first] != UInt8(ascii: "0") || index == first + 1 else {
            throw problem("a number with a leading zero")
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            let point = index
            try parseDigits(bytes, into: &decimal)
            decimal.exponent -= index - point
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            decimal.exponent += try parseExponent(bytes)
        }
        guard index - start <= Self.numberLimit else { throw problem("a number that is too long") }
        if let value = decimal.integer(isNegative: isNegative) { return .integer(value) }
        if let value = decimal.exactDouble { return .number(isNegative ? -value : value) }
        guard let value = Double(try makeString(bytes.extracting(start..<index))), value.isFinite else {
            throw problem("a number out of range")
        }
        return .number(value)
    }

    /// Goes past one digit or more.
    private mutating func parseDigits(_ bytes: Span<UInt8>, into decimal: inout Decimal) throws(JSONError) {
        let start = index
        while index < bytes.count, bytes[index].isASCIIDigit {
            decimal.append(bytes[index] - UInt8(ascii: "0"))
            index += 1
        }
        guard index > start else { throw problem("a digit is missing") }
    }

    private mutating func parseExponent(_ bytes: Span<UInt8>) throws(JSONError) -> Int {
        var isNegative = false
        if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
            isNegative = bytes[index] == UInt8(ascii: "-")
            index += 1
        }
        let start = index
        var size = 0
        while index < bytes.count, bytes[index].isASCIIDigit {
            // Any exponent beyond this is zero or out of range for every digit string within the length limit.
            size = min(size * 10 + Int(bytes[index] - UInt8(ascii: "0")), 1_000_000)
            index += 1
        }
        guard index > start else { throw problem("a digit is missing") }
        return isNegative ? -size : size
    }
}

/// A number as it stands in a text: `digits` × 10^(`exponent` + `zeros`).
private struct Decimal {
    /// The digits up to the last that is not zero; meaningless once `overflows`.
    var digits: UInt64 = 0
    /// Zeros after them, kept apart so that `1.000…` with any number of zeros stays exact.
    var zeros = 0
    /// There are more digits that count than 64 bits hold: more than any Int64 has.
    var overflows = false
    var exponent = 0

    /// 10^22 is the largest power of ten that a Double holds exactly.
    private static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    mutating func append(_ digit: UInt8) {
        if digit == 0 {
            // Zeros before the first other digit add nothing.
            if digits != 0 || overflows { zeros += 1 }
            return
        }
        while zeros > 0, !overflows {
            shift(0)
            zeros -= 1
        }
        zeros = 0
        shift(UInt64(digit))
    }

    private mutating func shift(_ digit: UInt64) {
        let (scaled, first) = digits.multipliedReportingOverflow(by: 10)
        let (sum, second) = scaled.addingReportingOverflow(digit)
        digits = sum
        overflows = overflows || first || second
    }

    /// The value, when it is an integer in the range of Int64.
    func integer(isNegative: Bool) -> Int64? {
        guard !overflows else { return nil }
        if digits == 0 { return 0 }
        // The last digit is not zero: with a negative exponent there is a fraction.
        let exponent = exponent + zeros
        guard exponent >= 0, exponent < 19 else { return nil }
        var magnitude = digits
        for _ in 0..<exponent {
            let (scaled, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            magnitude = scaled
        }
        guard isNegative else { return Int64(exactly: magnitude) }
        return magnitude == Int64.min.magnitude ? .min : Int64(exactly: magnitude).map { -$0 }
    }

    /// The value without its sign, when one operation on two exact Doubles gives it; that one rounds correctly.
    var exactDouble: Double? {
        let exponent = exponent + zeros
        guard !overflows, digits <= 1 << 53, exponent.magnitude < Self.powers.count else { return nil }
        let power = Self.powers[Int(exponent.magnitude)]
        return exponent < 0 ? Double(digits) / power : Double(digits) * power
    }
}
