// SPDX-License-Identifier: Apache-2.0

package import Wire

/// How often asks may open windows, and who is quiet (03 §12.4).
package struct AskLimits: Sendable {
    /// For both rules.
    package static let span: Duration = .seconds(600)
    private static let remembered = 4_096

    private var opened: [MonotonicTime] = []
    private var quietKeys = LinkedTable<Fingerprint, MonotonicTime>()
    private var quietSources = LinkedTable<IPAddress, MonotonicTime>()

    package init() {}

    /// An ask opened a window.
    package mutating func windowOpened(at now: MonotonicTime) {
        opened.removeAll { now - $0 >= Self.span }
        opened.append(now)
    }

    /// A window that an ask opened was closed cancelled or stopped.
    package mutating func quiet(key: Fingerprint, source: IPAddress, at now: MonotonicTime) {
        quietKeys[key] = now
        quietKeys.touch(key)
        quietSources[source] = now
        quietSources.touch(source)
        if quietKeys.count > Self.remembered, let oldest = quietKeys.first { quietKeys.remove(oldest.key) }
        if quietSources.count > Self.remembered, let oldest = quietSources.first {
            quietSources.remove(oldest.key)
        }
    }

    /// Windows that still count.
    package func recentWindows(at now: MonotonicTime) -> Int {
        opened.count { now - $0 < Self.span }
    }

    /// The later of the closes that made its key or its source quiet, while that lasts.
    package func quietSince(key: Fingerprint, source: IPAddress, at now: MonotonicTime) -> MonotonicTime? {
        [quietKeys[key], quietSources[source]].compactMap { $0 }.filter { now - $0 < Self.span }.max()
    }

    /// One source may ask again.
    package mutating func forget(source: IPAddress) { quietSources.remove(source) }

    /// One device may ask again.
    package mutating func forget(device: SillID) {
        for key in quietKeys.keys where key.id == device { quietKeys.remove(key) }
    }

    /// `DELETE /v1/pairing/quiet`.
    package mutating func clear() { self = AskLimits() }
}
