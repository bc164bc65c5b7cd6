// SPDX-License-Identifier: Apache-2.0

/// A change of settings in words, "old → new" (06 A2).
package enum SettingsChangeLog {
    /// One entry per changed setting in a fixed order, joined with ", "; `no change` when nothing differs.
    package static func words(from old: Settings, to new: Settings) -> String {
        var entries: [String] = []
        func entry<T: Equatable>(
            _ old: T, _ new: T, _ words: (T) -> String, _ name: String = "", _ unit: String = ""
        ) {
            if old != new { entries.append("\(name)\(words(old)) → \(words(new))\(unit)") }
        }
        let perSecond = " Mbps per 60 fps"
        entry(old.maxFPS, new.maxFPS, { String($0) }, "frame rate limit ")
        entry(old.home.bitrate, new.home.bitrate, megabits, "bitrate ", perSecond)
        entry(old.home.captureScale, new.home.captureScale, scale)
        entry(old.away.bitrate, new.away.bitrate, megabits, "away bitrate ", perSecond)
        entry(old.away.captureScale, new.away.captureScale, scale, "away ")
        entry(old.direct, new.direct, flag, "direct wireless ")
        entry(old.remoteAccess, new.remoteAccess, flag, "remote access ")
        entry(old.remotePort, new.remotePort, { String($0) }, "remote port ")
        entry(old.internetAccess, new.internetAccess, flag, "internet access ")
        entry(old.requirePairing, new.requirePairing, flag, "require pairing ")
        entry(old.name, new.name, text, "name ")
        entry(old.addressName, new.addressName, text, "address name ")
        entry(old.minimumDeviceVersion, new.minimumDeviceVersion, { $0 }, "minimum device version ")
        entry(old.portMapping, new.portMapping, { $0 }, "port mapping ")
        entry(old.advertise, new.advertise, flag, "advertising ")
        entry(old.stunServer, new.stunServer, text, "STUN server ")
        entry(old.permanentMappings, new.permanentMappings, flag, "permanent mappings ")
        entry(old.ipv6Pinhole, new.ipv6Pinhole, flag, "IPv6 pinhole ")
        return entries.isEmpty ? "no change" : entries.joined(separator: ", ")
    }

    /// `15`, `8.5`: whole megabits without a decimal, others with exactly one.
    package static func megabits(_ bitsPerSecond: Int) -> String {
        if bitsPerSecond % 1_000_000 == 0 { return String(bitsPerSecond / 1_000_000) }
        // Without a sum: a streaming process may say any number of what it runs with.
        let tenths = bitsPerSecond / 100_000 + (bitsPerSecond % 100_000 >= 50_000 ? 1 : 0)
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func scale(_ scale: Int) -> String { scale == 2 ? "Retina" : "points" }
    private static func flag(_ isOn: Bool) -> String { isOn ? "on" : "off" }
    private static func text(_ text: String?) -> String { text ?? "none" }
}
