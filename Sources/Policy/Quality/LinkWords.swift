// SPDX-License-Identifier: Apache-2.0

/// Links in words, for logs and the user's status (06 A8).
package enum LinkWords {
    /// Kilobits a second as megabits with at most one decimal: 12000 is `12`, 6449 `6.4`, 6450 `6.5`.
    package static func megabits(kbps: Int) -> String { tenths(max(kbps, 0), of: 1000) }

    /// From a million bytes on `1.6 MB`, below it whole kilobytes: `900 kB`.
    package static func bytes(_ count: Int) -> String {
        let count = max(count, 0)
        if count >= 1_000_000 { return "\(tenths(count, of: 1_000_000)) MB" }
        return "\((count + 500) / 1000) kB"
    }

    /// A log line's fields after the device.
    package static func fields(_ log: SessionLink.Log) -> [(String, String)] {
        switch log {
        case .behind(let quality, let withheld, let offered, let carried, let suggestion):
            [("quality", quality), ("withheld", String(withheld)), ("offered", String(offered))]
                + (carried.map { [("carriedMbps", megabits(kbps: $0))] } ?? [])
                + [("suggestion", suggestion.map { words($0) } ?? "none")]
        case .stalled(let waiting):
            [("seconds", String(LinkJudge.deadSeconds)), ("waiting", bytes(waiting))]
        case .recovered: []
        }
    }

    /// `Low · Standard`, or the name of the bitrate alone when the resolution stays.
    package static func words(_ suggestion: LinkSuggestion) -> String {
        guard let scale = suggestion.captureScale else {
            return Quality.name(ofBitrate: suggestion.bitrate)
        }
        return Quality(bitrate: suggestion.bitrate, captureScale: scale).name
    }

    /// A device's row in the user's status; `quality` is the name of what runs, `route` how the device is connected.
    package static func status(
        _ report: LinkReport?, fps: Int, quality: String, roundTripMilliseconds: Int?, route: String?
    ) -> String {
        let roundTrip = roundTripMilliseconds.map { ", \($0) ms" } ?? ""
        let route = route.map { " · \($0)" } ?? ""
        switch report?.state {
        case .behind?: return "\(fps) fps, the link cannot carry \(quality)\(roundTrip)\(route)"
        case .stalled?: return "nothing gets through\(route)"
        case .fine?, nil: return "\(fps) fps\(roundTrip)\(route)"
        }
    }

    /// At most one decimal, halves away from zero; `count` is not negative.
    private static func tenths(_ count: Int, of unit: Int) -> String {
        let tenth = unit / 10
        let tenths = count / tenth + (count % tenth >= tenth / 2 ? 1 : 0)
        return tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
    }
}
