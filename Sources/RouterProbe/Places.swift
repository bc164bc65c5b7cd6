// SPDX-License-Identifier: Apache-2.0

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

/// One probe's limits: the time, and the flag that ends it early.
struct Limits: Sendable {
    let start: MonotonicTime
    let deadline: MonotonicTime
    let stop: WakeUp

    /// The same flag with an earlier end.
    func within(_ duration: Duration, from moment: MonotonicTime) -> Limits {
        Limits(start: start, deadline: min(deadline, moment + duration), stop: stop)
    }

    /// The next of `times`, but never past the end.
    func next(_ time: MonotonicTime?) -> MonotonicTime { time.map { min($0, deadline) } ?? deadline }
}
