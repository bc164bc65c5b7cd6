// SPDX-License-Identifier: Apache-2.0

internal import HTTPFetch
internal import Sockets
internal import Wire

/// The ports of the router's services; tests choose their own.
struct RouterPorts: Sendable, Hashable {
    /// Where searches go to everybody.
    var searchGroup = Search.group
    /// UPnP's search at the gateway alone.
    var search: UInt16 = 1900
    /// NAT-PMP and PCP.
    var mapping: UInt16 = 5351

    init() {}
}

/// How long everything takes at most (05 B6, B12); tests have less patience.
struct RouterTimes: Sendable, Hashable {
    /// Nothing lasts longer, whatever a router does.
    var hardEnd: Duration = .seconds(6)
    /// Until when the others are waited for once UPnP has answered everything.
    var enough: Duration = .milliseconds(300)
    /// When a search is sent, and how long answers to it are waited for.
    var search = TrySchedule(tries: [.zero, .milliseconds(500)], end: .milliseconds(1500))
    var patientSearch = TrySchedule(tries: [.zero, .milliseconds(500)], end: .seconds(3))
    /// For a description, and for each question to an IGD.
    var question: Duration = HTTPFetch.usualTime
    var natpmp = TrySchedule(
        tries: [.zero, .milliseconds(250), .milliseconds(750)], end: .milliseconds(1750))
    var patientNATPMP = TrySchedule(
        tries: [.zero, .milliseconds(250), .milliseconds(750), .milliseconds(1750)], end: .milliseconds(3500))
    var stun = TrySchedule(tries: [.zero, .milliseconds(500)], end: .milliseconds(1500))

    init() {}
}

/// When a question over UDP is sent again and when its time is over, counted from the first try (05 B6).
struct TrySchedule: Sendable, Hashable {
    let tries: [Duration]
    let end: Duration
}

/// One probe's limits: the time, and the flag that ends it early.
struct Limits: Sendable {
    let start: MonotonicTime
    let deadline: MonotonicTime
    let stop: WakeUp
    let times: RouterTimes

    /// Those of what begins now.
    init(_ times: RouterTimes, from now: MonotonicTime) throws(SocketError) {
        self.init(start: now, deadline: now + times.hardEnd, stop: try WakeUp(), times: times)
    }

    private init(start: MonotonicTime, deadline: MonotonicTime, stop: WakeUp, times: RouterTimes) {
        self.start = start
        self.deadline = deadline
        self.stop = stop
        self.times = times
    }

    /// The same flag with an earlier end.
    func within(_ duration: Duration, from moment: MonotonicTime) -> Limits {
        Limits(start: start, deadline: min(deadline, moment + duration), stop: stop, times: times)
    }

    /// The next of `times`, but never past the end.
    func next(_ time: MonotonicTime?) -> MonotonicTime { time.map { min($0, deadline) } ?? deadline }
}
