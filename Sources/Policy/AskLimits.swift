// SPDX-License-Identifier: Apache-2.0

package import Wire

/// How often asks may open windows, and who is quiet (03 §12.4).
package struct AskLimits: Sendable {
    /// For both rules.
    package static let span: Duration = .seconds(600)
    private static let remembered = 4_096

    private struct Opened: Sendable {
        let window: String
        let at: MonotonicTime
        /// Whose ask it was; unknown after a restart.
        let key: Fingerprint?
        let source: IPAddress?
    }

    private var opened: [Opened] = []
    private var quietKeys = LinkedTable<Fingerprint, MonotonicTime>()
    private var quietSources = LinkedTable<IPAddress, MonotonicTime>()

    package init() {}

    /// An ask opened this window.
    package mutating func windowOpened(
        _ window: String, key: Fingerprint? = nil, source: IPAddress? = nil, at now: MonotonicTime
    ) {
        opened.removeAll { now - $0.at >= Self.span }
        opened.append(Opened(window: window, at: now, key: key, source: source))
    }

    /// A window that an ask opened was closed cancelled or stopped.
    package mutating func quiet(key: Fingerprint, source: IPAddress, at now: MonotonicTime) {
        quiet(key, at: now)
        quiet(source, at: now)
    }

    /// This key is quiet since then.
    package mutating func quiet(_ key: Fingerprint, at time: MonotonicTime) {
        quietKeys[key] = time
        quietKeys.touch(key)
        if quietKeys.count > Self.remembered, let oldest = quietKeys.first { quietKeys.remove(oldest.key) }
    }

    /// This source is quiet since then.
    package mutating func quiet(_ source: IPAddress, at time: MonotonicTime) {
        quietSources[source] = time
        quietSources.touch(source)
        if quietSources.count > Self.remembered, let oldest = quietSources.first {
            quietSources.remove(oldest.key)
        }
    }

    /// Windows that still count.
    package func recentWindows(at now: MonotonicTime) -> Int {
        opened.count { now - $0.at < Self.span }
    }

    /// Windows that still count, and when they were opened.
    package func windows(at now: MonotonicTime) -> [(window: String, at: MonotonicTime)] {
        opened.filter { now - $0.at < Self.span }.map { ($0.window, $0.at) }
    }

    /// Keys that are quiet, and since when.
    package func quietKeys(at now: MonotonicTime) -> [(key: Fingerprint, since: MonotonicTime)] {
        Self.lasting(quietKeys, at: now).map { ($0, $1) }
    }

    /// Sources that are quiet, and since when.
    package func quietSources(at now: MonotonicTime) -> [(source: IPAddress, since: MonotonicTime)] {
        Self.lasting(quietSources, at: now).map { ($0, $1) }
    }

    private static func lasting<Key>(
        _ table: LinkedTable<Key, MonotonicTime>, at now: MonotonicTime
    ) -> [(Key, MonotonicTime)] {
        table.keys.compactMap { key in
            guard let since = table[key], now - since < span else { return nil }
            return (key, since)
        }
    }

    /// The later of the closes that made its key or its source quiet, while that lasts.
    package func quietSince(key: Fingerprint, source: IPAddress, at now: MonotonicTime) -> MonotonicTime? {
        [quietKeys[key], quietSources[source]].compactMap { $0 }.filter { now - $0 < Self.span }.max()
    }

    /// One source may ask again, and the windows it opened count no more.
    package mutating func forget(source: IPAddress) {
        quietSources.remove(source)
        opened.removeAll { $0.source == source }
    }

    /// One device may ask again, and the windows it opened count no more.
    package mutating func forget(device: SillID) {
        for key in quietKeys.keys where key.id == device { quietKeys.remove(key) }
        opened.removeAll { $0.key?.id == device }
    }

    /// `DELETE /v1/pairing/quiet`.
    package mutating func clear() { self = AskLimits() }
}
