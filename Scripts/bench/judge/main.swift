// SPDX-License-Identifier: Apache-2.0

// How long it takes to judge one second of many sessions (bench Q1). Usage: bench-judge SESSIONS ROUNDS
// Prints, in microseconds of this thread's processor time: the median closing, the slowest, and the median of only
// reading the same counts.

internal import Glibc
internal import LatchkeyStream
internal import Policy

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

/// What is measured: the second of every session. Returns how many reports there were to publish.
func close(_ links: inout [SessionLink], _ seconds: [LinkSecond], _ running: StreamTarget) -> Int {
    var published = 0
    for at in links.indices where links[at].close(seconds[at], running: running).isPublished {
        published += 1
    }
    return published
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
let running = StreamTarget(bitrate: 15_000_000, fps: 60, captureScale: 2)
var links = Array(repeating: SessionLink(), count: sessions)
var closings: [Double] = []
var readings: [Double] = []
var published = 0
var sum = 0
for round in -history.count..<rounds {
    let second = history[(round + history.count) % history.count]
    let begin = processorTime()
    published += close(&links, second, running)
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
