// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// When a session counts as gone: no byte for longer than its own slowness explains (06 B5). Pure.
struct Liveness: Sendable {
    /// The shortest silence that ends a session.
    static let floor: Duration = .seconds(6)
    /// How many worst round trips of silence are still normal.
    static let factor = 4.0

    /// How long a remote session's path may lead nowhere.
    static let pathLimit: Duration = .seconds(3)

    /// Between two looks of a device that runs; they are 0.25 s apart.
    static let gap: Duration = .seconds(2)

    private var lastByte: MonotonicTime
    private var lastLook: MonotonicTime
    /// Whether a way that leads nowhere counts.
    var isRemote: Bool
    /// Since when the device has no way to the host.
    private var pathLostAt: MonotonicTime?
    private var second: Int64 = .min
    private var worstOfSecond = 0.0
    /// The worst round trip, in seconds, of the last whole second that measured one.
    private var worst = 0.0

    /// A session that begins now.
    init(now: MonotonicTime, isRemote: Bool = false) {
        lastByte = now
        lastLook = now
        self.isRemote = isRemote
    }

    /// The device's way to the host came or went; known only where the system says so.
    mutating func path(isViable: Bool, at now: MonotonicTime) {
        if isViable { pathLostAt = nil } else if pathLostAt == nil { pathLostAt = now }
    }

    /// A byte has come.
    mutating func heard(at now: MonotonicTime) { lastByte = now }

    /// It is looked at now. A device that did not run meanwhile (stopped, or starved) has heard nothing for that reason:
    /// what came waits to be read, and the host was sent no ping to answer.
    mutating func looked(at now: MonotonicTime) {
        if now - lastLook > Self.gap { lastByte = max(lastByte, now) }
        lastLook = now
    }

    /// A ping's answer took so many seconds.
    mutating func measured(roundTrip seconds: Double, at now: MonotonicTime) {
        let current = now.nanoseconds / 1_000_000_000
        if current != second {
            if worstOfSecond > 0 { worst = worstOfSecond }
            worstOfSecond = 0
            second = current
        }
        worstOfSecond = max(worstOfSecond, seconds)
    }

    /// The silence that is still accepted.
    var limit: Duration { max(Self.floor, .seconds(Self.factor * max(worst, worstOfSecond))) }

    /// Whether to give the session up.
    func isSilent(at now: MonotonicTime) -> Bool {
        if isRemote, let pathLostAt, now - pathLostAt > Self.pathLimit { return true }
        return now - lastByte > limit
    }
}
