// SPDX-License-Identifier: Apache-2.0

/// What a stream runs with: three numbers, and the stream begins anew when one of them changes (06 A2).
package struct StreamTarget: Sendable, Equatable, Hashable {
    /// Bits per second per 60 frames a second, of the pair that runs.
    package var bitrate: Int
    /// Frames a second.
    package var fps: Int
    /// 1 (points) or 2 (full pixels).
    package var captureScale: Int

    package init(bitrate: Int, fps: Int, captureScale: Int) {
        self.bitrate = bitrate
        self.fps = fps
        self.captureScale = captureScale
    }

    /// What runs of a pair. `asked` is the highest rate that any connected device asked for, nil when none is connected.
    package init(_ pair: Quality, maxFPS: Int, asked: Int?, softwareEncoder: Bool = false) {
        self.init(
            bitrate: pair.bitrate,
            fps: Self.fps(maxFPS: maxFPS, asked: asked, softwareEncoder: softwareEncoder),
            captureScale: softwareEncoder ? 1 : pair.captureScale)
    }

    /// A pair as it runs when nobody said a rate.
    package init(usual pair: Quality) {
        self.init(bitrate: pair.bitrate, fps: Self.usualFPS, captureScale: pair.captureScale)
    }

    /// What a device counts as that has not said its rate, and the most of a software encoder.
    package static let usualFPS = 60

    /// Frames a second: at least 24, and no more than the limit.
    package static func fps(maxFPS: Int, asked: Int?, softwareEncoder: Bool = false) -> Int {
        let fps = min(maxFPS, max(SettingRange.maxFPS.lowerBound, asked ?? usualFPS))
        return softwareEncoder ? min(fps, usualFPS) : fps
    }

    /// The encoder's target in bits a second.
    package var encoderBitrate: Int {
        // No bitrate or rate of the ranges comes near; a streaming process may post any numbers.
        let (product, overflow) = bitrate.multipliedReportingOverflow(by: fps)
        return overflow ? .max : product / 60
    }

    /// The same in whole megabits, for `stream.mbps` (06 A4).
    package var megabits: Int { encoderBitrate / 1_000_000 }

    /// Whether the stream begins anew between two of them.
    package func restarts(to new: StreamTarget) -> Bool {
        fps != new.fps || captureScale != new.captureScale || encoderBitrate != new.encoderBitrate
    }
}

/// The frame rate that a device asks for in its viewport (06 A5).
package enum AskedFrameRate {
    /// The panel's rate, 60 while it saves power, and at most 60 over a VPN or the internet.
    package static func fps(panel: Int, savesPower: Bool, isAway: Bool) -> Int {
        let own = savesPower ? StreamTarget.usualFPS : panel
        return isAway ? min(own, StreamTarget.usualFPS) : own
    }
}
