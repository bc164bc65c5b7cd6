// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// What the shell is to do. Within one entry they are handed over in order, after the snapshot was published.
package enum Effect: Sendable {
    /// To the one writer; its result comes back through `committed`.
    case commit(ChangeID, StoreCommit)
    /// To the same writer, in the same order; nobody waits.
    case record(StoreCommit)
    /// Answers whoever proposed the change.
    case changeDone(ChangeID, ChangeOutcome)
    /// Send kind 20, then close.
    case answerPairing(ConnectionID, PairResult)
    /// Close at once, without a byte.
    case closeConnection(ConnectionID)
    /// Send the goodbye, if any, then close as a registered session (03 §11.3).
    case endSession(SessionID, ConnectionID, Goodbye?)
    /// Listen at this port, replacing a listener at another; report through `doorState`.
    case openDoor(Door, port: Int)
    /// Stop listening; accepted connections live on.
    case closeDoor(Door)
    /// Announce the home door so, in place of what was announced before; nil: not at all. Report through
    /// `advertisingState`.
    case advertise(Advertisement?)
    /// The host is this one from here on, with the key that was staged for it: for new connections and for signatures.
    case identityChanged(Fingerprint)
    /// Watch the networks so (05 A5); what is found comes through `reachabilityRead`.
    case watchReachability(ReachabilityWanted)
    /// Have the router asked for what is wanted of it now (05 B8, B9); how it stands comes through `routerRequests`.
    case lookAfterMapping(MappingKeeper.Situation)
    /// The router's forwards are not what it said last, because it was asked for one or for the end of one.
    case askRouterAgain
    /// Send kind 18 to every session again.
    case broadcastHostInfo
    /// The stream is another (06 A6): half-finished seconds' frames count no more. To every door worker.
    case judgeAfresh
    /// PBKDF2, away from every loop; the result comes back through `codeKeyDerived`.
    case deriveCodeKey(window: String, code: String)
    /// The window's link is complete (09.20).
    case windowReady(WindowOffer)
    /// The spare secrets were used: bring others through `supply`.
    case needEntropy
    /// For `/v1/events`.
    case event(Event)
    /// For the log.
    case log(LogLine)
    /// `nextDeadline` is this now; it was later or none.
    case wake(MonotonicTime)
}

/// What happened, for `/v1/events` (07).
package enum Event: Sendable {
    /// `pairing.opened`; also when an admin takes a window over.
    case windowOpened(WindowOffer)
    /// `pairing.closed`.
    case windowClosed(WindowOutcome)
    /// `pairing.requested`.
    case requested(PairingRequest)
    /// `device.paired`.
    case devicePaired(DeviceRecord)
    /// `device.renamed`.
    case deviceRenamed(DeviceRecord)
    /// `device.removed`.
    case deviceRemoved(DeviceRecord)
    /// `device.seen`.
    case deviceSeen(DeviceRecord)
    /// `session.opened`.
    case sessionOpened(SessionView)
    /// `session.closing`; without a goodbye it is cut.
    case sessionClosing(SessionView, Goodbye?)
    /// `session.closed`.
    case sessionClosed(SessionView, SessionEnd)
    /// `settings.changed`, with those in force.
    case settingsChanged(Settings)
    /// `quality.changed`: another pair runs, or the pairs changed.
    case qualityChanged(QualityView)
    /// `door.changed`.
    case doorChanged(Door, DoorState)
    /// `lock.changed`.
    case lockChanged(LockState)
    /// `reachability.changed`: the report says something else.
    case reachabilityChanged(MadeReport)
    /// `identity.rotated`; stands for the `device.removed` of every device.
    case identityRotated(IdentityRotation)
}

/// One identity made way for another.
package struct IdentityRotation: Sendable, Equatable {
    /// Who the host was.
    package var previous: Fingerprint
    /// Who it is.
    package var current: Fingerprint
    /// What people call it, as before.
    package var name: String
    /// How many devices must pair again.
    package var removedDevices: Int
    /// How many sessions got `removed`.
    package var closedSessions: Int
}

/// Both pairs and which of them runs (06).
package struct QualityView: Sendable, Equatable {
    /// While nobody is away.
    package var home: Quality
    /// While someone is.
    package var away: Quality
    /// Frames a second.
    package var maxFPS: Int
    /// Whether the away pair runs.
    package var runsAway: Bool
}

/// One line for the log. Never holds a secret; addresses only at `debug` (03 §15).
package struct LogLine: Sendable {
    /// 09.16.
    package enum Level: Int, Sendable, Comparable, CaseIterable {
        /// Each connection.
        case debug
        /// What a person asked for.
        case info
        /// What a person should fix.
        case warning
        /// What could not be done.
        case error

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much it matters.
    package var level: Level
    /// One clause.
    package var message: String
    /// Data, in order.
    package var fields: [(String, String)]

    package init(_ level: Level, _ message: String, _ fields: [(String, String)] = []) {
        self.level = level
        self.message = message
        self.fields = fields
    }
}
