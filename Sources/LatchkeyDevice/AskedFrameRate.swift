// SPDX-License-Identifier: Apache-2.0

/// The frame rate that a device asks for in its viewport (06 A5).
public enum AskedFrameRate {
    /// What a device asks for that saves power, and the most of one that is away.
    public static let usual = 60

    /// The panel's rate, 60 while it saves power, and at most 60 over a VPN or the internet. Frames a second.
    public static func fps(panel: Int, savesPower: Bool, isAway: Bool) -> Int {
        let own = savesPower ? usual : panel
        return isAway ? min(own, usual) : own
    }
}
