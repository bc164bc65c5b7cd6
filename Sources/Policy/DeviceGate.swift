// SPDX-License-Identifier: Apache-2.0

package import Wire

/// The device gate: whether a device is new enough, and what an older one is told (01 §8.3, 03 §5.4).
package struct DeviceGate: Sendable {
    /// How long the first message may take after ready.
    package static let deadline: Duration = .seconds(2)
    /// How late a goodbye is for a source that keeps coming.
    package static let delay: Duration = .seconds(2)
    private static let window: Duration = .seconds(60)
    private static let untilDelayed = 5
    private static let sources = 4_096
    private static let messageLimit = 200

    private struct Record: Sendable {
        var refusals: [MonotonicTime] = []
        var logged: MonotonicTime?
        var unlogged = 0
    }

    /// What a refusal leads to.
    package struct Refusal: Sendable, Equatable {
        /// How late the goodbye is.
        package var delay: Duration
        /// How many refusals a log line is due for; nil when none is due yet.
        package var logged: Int?
    }

    private var records = LinkedTable<IPAddress, Record>()

    package init() {}

    /// Whether a connection's first message lets it through. `kind` is nil when nothing came in time; `hello` is nil
    /// when a kind 23 did not decode.
    package static func admits(floor: Version, kind: MessageKind?, hello: Hello?) -> Bool {
        if floor.isZero { return true }
        guard kind == .hello else { return false }
        return (hello?.versionOrZero ?? .zero) >= floor
    }

    /// Counts a refusal. The 6th of a source within 60 s is the first late one; one log line per source and minute.
    package mutating func refused(_ source: IPAddress, at now: MonotonicTime) -> Refusal {
        var record = records[source] ?? Record()
        record.refusals.removeAll { now - $0 >= Self.window }
        let isLate = record.refusals.count >= Self.untilDelayed
        record.refusals.append(now)
        record.refusals = record.refusals.suffix(Self.untilDelayed)
        record.unlogged += 1
        var logged: Int?
        if record.logged.map({ now - $0 >= Self.window }) ?? true {
            logged = record.unlogged
            record.unlogged = 0
            record.logged = now
        }
        records[source] = record
        records.touch(source)
        if records.count > Self.sources, let oldest = records.first { records.remove(oldest.key) }
        return Refusal(delay: isLate ? Self.delay : .zero, logged: logged)
    }

    /// What an older device shows: at most 200 characters, its kind, the host and the version.
    package static func message(device: String?, host: String, floor: Version) -> String {
        let cleaned = Label.clean(device ?? "")
        let word = ["iPhone", "iPad"].first { cleaned.hasPrefix($0) } ?? "device"
        let text =
            "The app on this \(word) is too old for \(host). Update it to version \(floor.shown) or newer."
        return String(text.prefix(messageLimit))
    }
}
