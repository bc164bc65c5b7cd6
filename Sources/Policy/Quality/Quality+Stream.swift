// SPDX-License-Identifier: Apache-2.0

package import LatchkeyStream

extension QualityPair {
    /// A pair of the settings.
    package init(_ quality: Quality) {
        self.init(bitrate: quality.bitrate, captureScale: quality.captureScale)
    }
}

extension StreamTarget {
    /// A pair as it runs when nobody said a rate.
    package init(usual quality: Quality) {
        self.init(QualityPair(quality), maxFPS: Self.usualFPS, asked: nil)
    }
}
