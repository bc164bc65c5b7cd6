// SPDX-License-Identifier: Apache-2.0

/// What one second was like on one session's link (06 A6).
package struct LinkSecond: Sendable, Equatable {
    /// Frames handed to the connection.
    package var sent: Int
    /// Frames not sent, but for those before its first keyframe.
    package var withheld: Int
    /// Bytes the connection took.
    package var taken: Int
    /// Bytes handed over and not yet taken, at the second's end.
    package var waiting: Int
    /// Anything arrived from the device.
    package var heard: Bool

    /// Beyond every second there is, and small enough for the sums to be right.
    private static let most = 1 << 40

    /// Counts below zero are zero, and beyond a million million a million million.
    package init(sent: Int, withheld: Int, taken: Int, waiting: Int, heard: Bool) {
        func bounded(_ count: Int) -> Int { min(max(count, 0), Self.most) }
        self.sent = bounded(sent)
        self.withheld = bounded(withheld)
        self.taken = bounded(taken)
        self.waiting = bounded(waiting)
        self.heard = heard
    }

    /// Frames there were to send.
    package var offered: Int { sent + withheld }

    /// Three frames, and a tenth, were held back.
    package var isShort: Bool { withheld >= 3 && 10 * withheld >= offered }

    /// Nothing went, though something waits, and nothing came.
    package var isDead: Bool { taken == 0 && waiting > 0 && !heard }

    /// So much waited all the time that what was taken is what the link carries.
    package var isMeasured: Bool { waiting >= 16_384 }
}
