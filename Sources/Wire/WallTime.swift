// SPDX-License-Identifier: Apache-2.0

/// A moment for people and records. It may jump with the clock, so no rule measures with it.
package struct WallTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64

    /// The moment that many milliseconds after 1970.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The moment that many seconds after 1970, to the millisecond; the ends of the range for values beyond it, 1970
    /// for NaN.
    package init(seconds: Double) {
        milliseconds = (seconds * 1000).nearestInteger
    }

    /// Seconds since 1970 with fractions: the form of message headers and `issuedAt`.
    package var seconds: Double { Double(milliseconds) / 1000 }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The text of the local API: `2026-11-30T07:14:13.123Z` (RFC 3339, UTC, always three decimals).
    package var rfc3339: String {
        // RFC 3339 has years 0 to 9999 only; a clock outside them is broken, and its text only has to be a text.
        let moment = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let day = moment.quotientRoundedDown(by: 86_400_000)
        let rest = moment - day * 86_400_000
        let (year, month, dayOfMonth) = civilDate(daysSince1970: day)
        var out: [UInt8] = []
        out.reserveCapacity(24)
        func digits(_ value: Int64, _ width: Int, _ after: UInt8) {
            var scale = Int64(1)
            for _ in 1..<width { scale *= 10 }
            while scale > 0 {
                out.append(UInt8(ascii: "0") + UInt8(value / scale % 10))
                scale /= 10
            }
            out.append(after)
        }
        digits(year, 4, UInt8(ascii: "-"))
        digits(month, 2, UInt8(ascii: "-"))
        digits(dayOfMonth, 2, UInt8(ascii: "T"))
        digits(rest / 3_600_000, 2, UInt8(ascii: ":"))
        digits(rest / 60_000 % 60, 2, UInt8(ascii: ":"))
        digits(rest / 1000 % 60, 2, UInt8(ascii: "."))
        digits(rest % 1000, 3, UInt8(ascii: "Z"))
        return String(decoding: out, as: UTF8.self)
    }

    /// Any RFC 3339 text with a zone (`Z` or an offset); decimals after the third are dropped, a leap second counts as
    /// the second after it. Nil for everything else.
    package init?(rfc3339 text: String) {
        let units = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            guard range.upperBound <= units.count else { return nil }
            var value: Int64 = 0
            for unit in units[range] {
                guard unit.isASCIIDigit else { return nil }
                value = value * 10 + Int64(unit - UInt8(ascii: "0"))
            }
            return value
        }
        func has(_ allowed: String, at index: Int) -> Bool {
            index < units.count && allowed.utf8.contains(units[index])
        }
        guard let year = number(0..<4), has("-", at: 4), let month = number(5..<7), has("-", at: 7),
            let day = number(8..<10), has("Tt ", at: 10), let hour = number(11..<13), has(":", at: 13),
            let minute = number(14..<16), has(":", at: 16), let second = number(17..<19),
            hour < 24, minute < 60, second <= 60,
            let days = daysSince1970(year: year, month: month, day: day)
        else { return nil }

        var index = 19
        var fraction: Int64 = 0
        if has(".", at: index) {
            index += 1
            let start = index
            while index < units.count, units[index].isASCIIDigit {
                if index - start < 3 { fraction = fraction * 10 + Int64(units[index] - UInt8(ascii: "0")) }
                index += 1
            }
            guard index > start else { return nil }
            for _ in min(index - start, 3)..<3 { fraction *= 10 }
        }

        var offset: Int64 = 0
        if has("Zz", at: index) {
            index += 1
        } else {
            guard has("+-", at: index), let hours = number(index + 1..<index + 3), has(":", at: index + 3),
                let minutes = number(index + 4..<index + 6), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (has("-", at: index) ? -60 : 60)
            index += 6
        }
        guard index == units.count else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        milliseconds = seconds * 1000 + fraction
    }
}

// Both conversions are Howard Hinnant's "chrono-compatible low-level date algorithms": years that begin in March, in
// eras of 400 years.

private func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = daysSince1970 + 719_468
    let era = shifted.quotientRoundedDown(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}

/// Nil when the calendar has no such day.
private func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64? {
    guard (1...12).contains(month), day >= 1 else { return nil }
    let marchYear = month <= 2 ? year - 1 : year
    let era = marchYear.quotientRoundedDown(by: 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    let back = civilDate(daysSince1970: days)
    return back == (year, month, day) ? days : nil
}

extension Int64 {
    /// Division that rounds towards negative infinity, for a positive divisor.
    fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
