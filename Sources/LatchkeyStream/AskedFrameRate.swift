// SPDX-License-Identifier: Apache-2.0

/// The frame rate that a device asks for in its viewport (06 A5).
public enum AskedFrameRate {
    /// The panel's rate, 60 while it saves power, and at most 60 over a VPN or the internet. Frames a second.
    public static func fps(panel: Int, savesPower: Bool, isAway: Bool) -> Int {
        let own = savesPower ? StreamTarget.usualFPS : panel
        return isAway ? min(own, StreamTarget.usualFPS) : own
    }
}
