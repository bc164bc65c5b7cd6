// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import CryptoEngine
package import Policy
internal import Sockets
package import Wire

extension Doors {
    /// Judges whether a link-local IPv6 source at the home door is the cable (04), afresh each time. It answers once, from
    /// any thread, within 250 ms, and does not wait itself.
    package typealias CableWitness =
        @Sendable (
            _ source: IPAddress, _ answer: @escaping @Sendable (CableVerdict) -> Void
        ) -> Void

    /// Says whether a connection from this loopback address is from a peer that a user-space VPN delivers there (03 section
    /// 3.4): at once, or nil, and then it answers once, from another thread. Does not wait itself.
    package typealias LoopbackWitness =
        @Sendable (
            _ source: SocketAddress, _ answer: @escaping @Sendable (Bool) -> Void
        ) -> Bool?

    /// Where admitted sessions go (spec 08): the streaming process's socket.
    package enum Backend: Sendable, Hashable {
        /// A Unix socket's path.
        case unix(path: String)
        /// A TCP address, on loopback.
        case tcp(SocketAddress)
    }
}

/// The doors' own waits. What ships is the specification's; tests that reach an end of a wait pass shorter ones.
package struct DoorTimes: Sendable {
    /// Accept to admission or the complete kind 19 (03 section 7.2).
    package var pending: Duration = .seconds(10)
    /// Ready to the whole hello, while a device floor is set (01 section 8.3).
    package var gate: Duration = .seconds(2)
    /// A goodbye's own time in a registered session (09.4).
    package var goodbye: Duration = .milliseconds(100)
    /// Drain of a connection that was never registered (03 section 11.3).
    package var farewell: Duration = .seconds(1)
    /// A kind 20 to the close (03 section 5.6).
    package var pairingAnswer: Duration = .milliseconds(250)
    /// A whole kind 19 to its answer, which may wait for the store.
    package var pairingDecision: Duration = .seconds(30)
    /// The backend's first message to kind 18 when no kind 16 comes (08).
    package var hostInfo: Duration = .milliseconds(500)
    /// Connecting to the backend (08).
    package var backend: Duration = .seconds(5)
    /// Between looks at sessions that say or take nothing (03 section 14); each ends their links' second (06 A6).
    package var sweep: Duration = SessionSweep.interval

    package init() {}
}

/// What all workers share; immutable, or safe by itself.
struct DoorContext: Sendable {
    let core: SharedCore
    /// For a connection's first byte; another one after the host's key changed.
    let tls: @Sendable () -> TLSServerContext
    let backend: Doors.Backend?
    let times: DoorTimes
    /// Whether a connection of this source is the cable.
    let cable: Doors.CableWitness
    /// Whether a connection by the loopback is a VPN peer's.
    let loopback: Doors.LoopbackWitness
    /// A freshly signed kind 18 payload; nil while there is nothing to say.
    let hostInfo: @Sendable () -> [UInt8]?
    /// Has the interfaces read now; when it returns, the core knows them.
    let lookAgain: @Sendable () -> Void
    let log: @Sendable (LogLine) -> Void
    /// The time rules run by; timers run by the loop's.
    var clock: @Sendable () -> MonotonicTime = monotonicNow
    /// Where one worker's seconds go.
    var linkSeconds: @Sendable (SharedCore, [SessionSecond]) -> Void = { core, seconds in
        core.enter { core, moment in core.linkSeconds(seconds, moment) }
    }
    let board = DoorBoard()
}
