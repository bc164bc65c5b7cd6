// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What one session has seen, and what follows from it: served or not, alive or not. Pure.
struct SessionTracker: Sendable {
    /// What is known about the host's signed self-description.
    enum InfoState: String, Sendable { case verified, bad, none }

    /// The key of this connection's host.
    let host: Fingerprint
    /// How many messages of each kind came.
    private(set) var kinds: [UInt8: Int] = [:]
    /// Everything the host sent, headers included.
    private(set) var bytes = 0
    /// One bad info makes it bad for good.
    private(set) var hostInfo = InfoState.none
    /// The first one; nothing follows it.
    private(set) var goodbye: Goodbye?
    /// The first window list that decoded has come: the device counts as connected (01 section 2.2).
    var isServed: Bool { windowList != nil }
    /// The last one.
    private(set) var windowList: WindowListFacts?
    /// `issuedAt` of the newest host info that holds; 0 before.
    private(set) var newestInfo = 0.0
    /// As the pongs measured them.
    private(set) var roundTrips = RoundTrips()
    private var liveness: Liveness

    /// A session that begins now.
    init(host: Fingerprint, now: MonotonicTime) {
        self.host = host
        liveness = Liveness(now: now)
    }

    /// A byte of any kind has come.
    mutating func heard(at now: MonotonicTime) { liveness.heard(at: now) }

    /// So many bytes of plaintext have come.
    mutating func received(bytes count: Int) { bytes += count }

    /// The device's way to the host came or went.
    mutating func path(isViable: Bool, at now: MonotonicTime) {
        liveness.path(isViable: isViable, at: now)
    }

    /// It goes through the remote door, where a way that leads nowhere counts.
    mutating func isRemote() { liveness.isRemote = true }

    /// The ping's clock has rung.
    mutating func looked(at now: MonotonicTime) { liveness.looked(at: now) }

    /// Whether to give the session up (06 B5).
    func isSilent(at now: MonotonicTime) -> Bool { liveness.isSilent(at: now) }

    /// The payload of a ping sent now: this device's clock as binary64, which the host sends back unchanged.
    static func pingPayload(at now: MonotonicTime) -> [UInt8] {
        let bits = seconds(now).bitPattern
        return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    }

    private static func seconds(_ time: MonotonicTime) -> Double { Double(time.nanoseconds) / 1_000_000_000 }

    /// Takes one message into account. Returns a host info that may be saved.
    mutating func received(_ message: Message, at now: MonotonicTime) -> VerifiedHostInfo? {
        kinds[message.header.kind.rawValue, default: 0] += 1
        switch message.header.kind {
        case .windowList:
            if let list = WindowListFacts(message.payload) { windowList = list }
        case .pong:
            measure(message.payload, at: now)
        case .goodbye:
            // One that does not decode is a goodbye for a reason unknown (01 section 7).
            if goodbye == nil { goodbye = (try? Goodbye(payload: message.payload)) ?? Goodbye(reason: "") }
        case .hostInfo:
            let verified = HostInfoCheck.verify(payload: message.payload, session: host)
            if hostInfo != .bad { hostInfo = verified == nil ? .bad : .verified }
            if let verified { newestInfo = max(newestInfo, verified.info.issuedAt) }
            return verified
        default: break
        }
        return nil
    }

    private mutating func measure(_ payload: [UInt8], at now: MonotonicTime) {
        guard payload.count == 8 else { return }
        let sent = Double(bitPattern: payload.reduce(0) { $0 << 8 | UInt64($1) })
        let seconds = Self.seconds(now) - sent
        // A pong of a ping we never sent measures nothing.
        guard seconds >= 0, seconds < 3600 else { return }
        roundTrips.add(seconds)
        liveness.measured(roundTrip: seconds, at: now)
    }
}

/// What every device needs of a window list (01 section 2.3).
struct WindowListFacts: Sendable, Equatable {
    /// The host's launch; nil from a host that names none.
    var launchID: String?

    /// nil for one that does not decode. Unknown keys and values are a later host's right.
    init?(_ payload: [UInt8]) {
        guard let json = try? JSON.parse(payload), (try? json.requiredString("macName")) != nil,
            (try? json.requiredArray("windows")) != nil, let active = try? json.requiredObject("active"),
            let members = active.members, members.count == 1
        else { return nil }
        guard ["none", "desktop", "window"].contains(members[0].key) else { return nil }
        launchID = json["launchID"]?.string
    }
}

/// Round trips of a session, for its report: the newest few thousand.
struct RoundTrips: Sendable {
    /// Ten minutes of pings.
    private static let limit = 2400

    private var samples: [Double] = []
    private var next = 0

    /// Takes one in, in seconds.
    mutating func add(_ seconds: Double) {
        if samples.count < Self.limit {
            samples.append(seconds)
        } else {
            samples[next] = seconds
            next = (next + 1) % Self.limit
        }
    }

    /// The value that `share` of all samples do not exceed, in milliseconds; nil without samples.
    func milliseconds(atShare share: Double) -> Double? {
        guard !samples.isEmpty else { return nil }
        let sorted = samples.sorted()
        let index = min(sorted.count - 1, max(0, Int((Double(sorted.count) * share).rounded(.up)) - 1))
        return (sorted[index] * 1_000_000).rounded() / 1000
    }
}
