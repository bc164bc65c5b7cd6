// SPDX-License-Identifier: Apache-2.0

// How long it takes to judge one second of many sessions (bench Q1). Usage: bench-judge SESSIONS ROUNDS
// Prints, in microseconds of this thread's processor time: the median closing, the slowest, and the median of only
// reading the same counts.

internal import Core
internal import Glibc
internal import LatchkeyStream
internal import Policy
internal import Wire

/// This thread's processor time, in microseconds.
func processorTime() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}

/// Numbers that are the same in every run (xorshift).
struct Draw {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func callAsFunction<T>(_ choices: [T]) -> T {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return choices[Int(state % UInt64(choices.count))]
    }
}

/// Every session is one of these for a while: fine, behind, behind with a rate that moves, silent, still.
func seconds(_ count: Int, _ draw: inout Draw) -> [LinkSecond] {
    (0..<count).map { _ in
        LinkSecond(
            sent: draw([0, 20, 54, 60]), withheld: draw([0, 0, 0, 2, 6, 30]),
            taken: draw([0, 1000, 250_000, 500_000]),
            waiting: draw([0, 8000, 300_000]), heard: draw([true, true, false]))
    }
}

/// A core with so many sessions at its home door, as devices of a host that pairs nobody have them.
func served(_ count: Int) -> (core: Core, sessions: [SessionID]) {
    var settings = Settings()
    settings.requirePairing = false
    func key(_ number: Int) -> Fingerprint {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> ($0 * 8) : 7) }
        guard let key = Fingerprint(bytes: bytes) else { exit(70) }
        return key
    }
    var core = Core(
        host: HostFacts(
            fingerprint: key(-1), recognitionKey: [], fallbackName: "Bench",
            startedAt: WallTime(milliseconds: 0), sessionPrefix: "s", bootWall: WallTime(milliseconds: 0),
            version: "0"),
        settings: settings, overrides: SettingsOverrides(), devices: [], tombstones: [],
        primitives: Primitives(hmacSHA256: { _, _ in [] }, equal: { _, _ in false }))
    let moment = Moment(now: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 0))
    core.start(moment)
    guard let loopback = IPAddress("127.0.0.1") else { exit(70) }
    var sessions: [SessionID] = []
    for number in 0..<count {
        let id = ConnectionID(owner: 0, serial: UInt64(number))
        let peer = SocketAddress(ip: loopback, port: UInt16(truncatingIfNeeded: number))
        _ = core.connectionArrived(Arrival(id: id, door: .home, peer: peer), moment)
        _ = core.connectionReady(id, alpn: ALPN.session.rawValue, key: key(number), moment)
        guard case .session(let view) = core.register(id, hello: nil, counters: SessionCounters(), moment)
        else { continue }
        sessions.append(view.id)
        _ = core.takeEffects()
    }
    return (core, sessions)
}

/// What is measured: the second of every session, from the door's call to what is to be published and logged. Returns how
/// much that was.
func close(_ core: inout Core, _ seconds: [SessionSecond], _ moment: Moment) -> Int {
    core.linkSeconds(seconds, moment)
    return core.takeEffects().count
}

/// The least that could be done with them.
func read(_ seconds: [LinkSecond]) -> Int {
    seconds.reduce(0) { $0 &+ $1.sent &+ $1.withheld &+ $1.taken &+ $1.waiting &+ ($1.heard ? 1 : 0) }
}

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard arguments.count == 2, let sessions = arguments.first, let rounds = arguments.last,
    (1...1_000_000).contains(sessions), (1...10_000).contains(rounds)
else {
    print("Usage: bench-judge SESSIONS ROUNDS")
    exit(64)
}

var draw = Draw()
let history = (0..<16).map { _ in seconds(sessions, &draw) }
var (core, ids) = served(sessions)
guard ids.count == sessions else {
    print("only \(ids.count) sessions were taken")
    exit(70)
}
var closings: [Double] = []
var readings: [Double] = []
var published = 0
var sum = 0
for round in -history.count..<rounds {
    let second = history[(round + history.count) % history.count]
    let now = MonotonicTime(nanoseconds: Int64(round + history.count + 1) * 1_000_000_000)
    let items = zip(ids, second).map { SessionSecond(session: $0, second: $1) }
    let begin = processorTime()
    published += close(&core, items, Moment(now: now, wall: WallTime(milliseconds: 0)))
    let middle = processorTime()
    sum &+= read(second)
    let end = processorTime()
    // The first ones fill the windows.
    guard round >= 0 else { continue }
    closings.append(middle - begin)
    readings.append(end - middle)
}
closings.sort()
readings.sort()
print(closings[rounds / 2], closings[rounds - 1], readings[rounds / 2])
// What was computed is looked at, so that it is computed.
exit(published > 0 && sum != 0 ? 0 : 1)
