// SPDX-License-Identifier: Apache-2.0

// In debug builds the standard library's own rounding calls the C math library, which nothing here links.

extension Double {
    /// The integer this is exactly, when it is one of at most 53 bits.
    var exactInteger: Int64? {
        guard magnitude <= 0x1p53 else { return nil }
        let whole = Int64(self)
        return Double(whole) == self ? whole : nil
    }

    /// The nearest integer, halves away from zero; the ends of the range beyond it, and 0 for NaN.
    var nearestInteger: Int64 {
        if isNaN { return 0 }
        if self >= 0x1p63 { return .max }
        if self <= -0x1p63 { return .min }
        let whole = Int64(self)
        let rest = self - Double(whole)
        if rest >= 0.5 { return whole + 1 }
        return rest <= -0.5 ? whole - 1 : whole
    }
}
