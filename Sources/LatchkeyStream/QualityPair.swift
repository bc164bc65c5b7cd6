// SPDX-License-Identifier: Apache-2.0

/// One of the two qualities a stream can run at (06 A2), as `home` and `away` of `GET /v1/quality` say it.
public struct QualityPair: Sendable, Equatable, Hashable {
    /// Bits per second per 60 frames a second: 1,000,000 to 200,000,000.
    public var bitrate: Int
    /// 1 (points) or 2 (full pixels).
    public var captureScale: Int

    /// Nothing is checked: the service says only what is in range.
    public init(bitrate: Int, captureScale: Int) {
        self.bitrate = bitrate
        self.captureScale = captureScale
    }
}
