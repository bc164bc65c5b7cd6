// SPDX-License-Identifier: Apache-2.0

/// What a stream runs with: three numbers, and the stream begins anew when one of them changes (06 A2). They are `running`
/// of `POST /v1/sessions/{id}/seconds`.
public struct StreamTarget: Sendable, Equatable, Hashable {
    /// What a frame rate limit can be, and what a device can ask for. Frames a second.
    public static let frameRates = 24...120
    /// What a device counts as that has not said its rate, and the most of a software encoder. Frames a second.
    public static let usualFPS = 60

    /// Bits per second per 60 frames a second, of the pair that runs.
    public var bitrate: Int
    /// Frames a second.
    public var fps: Int
    /// 1 (points) or 2 (full pixels).
    public var captureScale: Int

    /// As it runs; nothing is checked.
    public init(bitrate: Int, fps: Int, captureScale: Int) {
        self.bitrate = bitrate
        self.fps = fps
        self.captureScale = captureScale
    }

    /// What runs of a pair. `asked` is the highest rate that any connected device asked for, nil when none is connected.
    public init(_ pair: QualityPair, maxFPS: Int, asked: Int?, softwareEncoder: Bool = false) {
        self.init(
            bitrate: pair.bitrate,
            fps: Self.fps(maxFPS: maxFPS, asked: asked, softwareEncoder: softwareEncoder),
            captureScale: softwareEncoder ? 1 : pair.captureScale)
    }

    /// Frames a second: at least 24, and no more than the limit.
    public static func fps(maxFPS: Int, asked: Int?, softwareEncoder: Bool = false) -> Int {
        let fps = min(maxFPS, max(frameRates.lowerBound, asked ?? usualFPS))
        return softwareEncoder ? min(fps, usualFPS) : fps
    }

    /// The encoder's target in bits a second.
    public var encoderBitrate: Int {
        // No bitrate or rate of the ranges comes near; a streaming process may post any numbers.
        let (product, overflow) = bitrate.multipliedReportingOverflow(by: fps)
        return overflow ? .max : product / 60
    }

    /// The same in whole megabits, for kind 16's `stream.mbps` (06 A4).
    public var megabits: Int { encoderBitrate / 1_000_000 }

    /// Whether the stream begins anew between two of them.
    public func restarts(to new: StreamTarget) -> Bool {
        fps != new.fps || captureScale != new.captureScale || encoderBitrate != new.encoderBitrate
    }
}
