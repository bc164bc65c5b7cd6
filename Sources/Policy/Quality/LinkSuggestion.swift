// SPDX-License-Identifier: Apache-2.0

package import LatchkeyStream

/// The quality that a slow link would carry (06 A7). Never a higher one, and never applied by itself.
package struct LinkSuggestion: Sendable, Equatable {
    /// A preset, or the one that runs at the other scale.
    package var bitrate: Int
    /// 1, or nil to keep the resolution.
    package var captureScale: Int?

    package init(bitrate: Int, captureScale: Int? = nil) {
        self.bitrate = bitrate
        self.captureScale = captureScale
    }

    /// The highest preset below what runs that takes at most 70 % of what the link carried; the highest of all when that is
    /// unknown, the lowest when none fits. Nil when there is nothing lower.
    package static func make(carriedKbps: Int?, running: StreamTarget) -> LinkSuggestion? {
        let isRetina = running.captureScale == 2
        let candidates = QualityPreset.allCases.map(\.rawValue).filter { $0 < running.bitrate }
        guard let lowest = candidates.first, let highest = candidates.last else {
            return isRetina ? LinkSuggestion(bitrate: running.bitrate, captureScale: 1) : nil
        }
        let chosen =
            carriedKbps.map { carried in
                candidates.last { fits($0, fps: running.fps, carriedKbps: carried) } ?? lowest
            } ?? highest
        let scale = chosen == QualityPreset.low.rawValue && isRetina ? 1 : nil
        return LinkSuggestion(bitrate: chosen, captureScale: scale)
    }

    /// candidate × fps ÷ 60 ≤ carried × 1000 × 0.7, without fractions.
    private static func fits(_ bitrate: Int, fps: Int, carriedKbps: Int) -> Bool {
        let (share, overflow) = carriedKbps.multipliedReportingOverflow(by: 42_000)
        // No link is that fast; the rate of a stream is bounded all the same.
        return overflow || bitrate * min(max(fps, 1), 1000) <= share
    }
}
