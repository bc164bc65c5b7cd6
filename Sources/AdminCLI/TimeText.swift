// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// Times, spans and amounts in words.
enum TimeText {
    private static let minute: Int64 = 60
    private static let hour: Int64 = 3600
    private static let day: Int64 = 86400

    /// "3 minutes ago", "in 4 minutes"; the date once it is more than 30 days off.
    static func relative(_ time: WallTime, to now: WallTime) -> String {
        let seconds = (now.milliseconds - time.milliseconds) / 1000
        if abs(seconds) >= 31 * day { return String(time.rfc3339.prefix(10)) }
        if abs(seconds) < 5 { return "just now" }
        return seconds > 0 ? "\(span(seconds)) ago" : "in \(span(-seconds))"
    }

    /// The largest unit alone: "3 minutes".
    static func span(_ seconds: Int64) -> String {
        switch seconds {
        case ..<minute: count(seconds, "second")
        case ..<hour: count(seconds / minute, "minute")
        case ..<day: count(seconds / hour, "hour")
        default: count(seconds / day, "day")
        }
    }

    /// Minutes and seconds left: "4:05"; never below "0:00".
    static func countdown(_ milliseconds: Int64) -> String {
        // Rounded up, or a window would show 0:00 for its whole last second.
        let seconds = max(0, (milliseconds + 999) / 1000)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    /// "1 session", "2 sessions".
    static func count(_ amount: some BinaryInteger, _ noun: String) -> String {
        "\(amount) \(noun)\(amount == 1 ? "" : "s")"
    }

    /// "812 B", "1.4 MB": decimal units, one digit after the point.
    static func bytes(_ amount: UInt64) -> String {
        var unit: UInt64 = 1
        for name in ["B", "kB", "MB", "GB", "TB"] {
            if amount < unit * 1000 || name == "TB" {
                if unit == 1 { return "\(amount) B" }
                return "\(amount / unit).\(amount % unit * 10 / unit) \(name)"
            }
            unit *= 1000
        }
        return "\(amount) B"
    }

    /// Bits per second as people say them: "15 Mbit/s", "1.5 Mbit/s", "800 kbit/s".
    static func bitrate(_ bits: Int) -> String {
        if bits >= 1_000_000 {
            let tenths = bits % 1_000_000 / 100_000
            return tenths == 0 ? "\(bits / 1_000_000) Mbit/s" : "\(bits / 1_000_000).\(tenths) Mbit/s"
        }
        return "\(bits / 1000) kbit/s"
    }
}
