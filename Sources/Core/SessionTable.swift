// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyStream
internal import Policy
internal import Wire

/// One registered session.
struct Session: Sendable {
    /// As others see it.
    var view: SessionView
    /// Orders sessions by when they were registered.
    let serial: UInt64
    /// When its last kind 21 counted.
    var wantedAt: MonotonicTime?
}

/// The registered sessions with an index for every question that is asked about them, so that none costs more with
/// more sessions.
struct SessionTable: Sendable {
    private(set) var byID: [SessionID: Session] = [:]
    private var byKey: [Fingerprint: Set<SessionID>] = [:]
    private var byPeer: [PeerKey: SessionID] = [:]
    private var byDoor: [Door: Set<SessionID>] = [:]
    private var lastSerial: UInt64 = 0
    /// Remote sessions that were not told to go.
    private(set) var remoteCount = 0
    /// Sessions that a streaming process holds, those that were told to go included.
    private(set) var delegatedCount = 0
    /// Who is connected and was not told to go, by whether they are away (06 A3).
    private(set) var presence = Presence()

    var count: Int { byID.count }

    subscript(id: SessionID) -> Session? { byID[id] }

    /// The session of a device's address and port at a door.
    func id(remote: SocketAddress, door: Door) -> SessionID? {
        byPeer[PeerKey(door: door, remote: remote)]
    }

    /// In the order they were registered.
    func all() -> [Session] { byID.values.sorted { $0.serial < $1.serial } }

    /// Of one key, in the order they were registered.
    func all(of key: Fingerprint) -> [Session] { sessions(byKey[key]) }

    /// Of one door, in the order they were registered.
    func all(at door: Door) -> [Session] { sessions(byDoor[door]) }

    /// How many of one key.
    func count(of key: Fingerprint) -> Int { byKey[key]?.count ?? 0 }

    mutating func nextSerial() -> UInt64 {
        lastSerial += 1
        return lastSerial
    }

    mutating func insert(_ session: Session) {
        let view = session.view
        byID[view.id] = session
        if let key = view.fingerprint { byKey[key, default: []].insert(view.id) }
        byPeer[PeerKey(door: view.door, remote: view.remote)] = view.id
        if view.mode == .delegated { delegatedCount += 1 }
        byDoor[view.door, default: []].insert(view.id)
        count(view, by: 1)
    }

    @discardableResult mutating func remove(_ id: SessionID) -> Session? {
        guard let session = byID.removeValue(forKey: id) else { return nil }
        let view = session.view
        if let key = view.fingerprint {
            byKey[key]?.remove(id)
            if byKey[key]?.isEmpty == true { byKey[key] = nil }
        }
        let peer = PeerKey(door: view.door, remote: view.remote)
        if byPeer[peer] == id { byPeer[peer] = nil }
        if view.mode == .delegated { delegatedCount -= 1 }
        byDoor[view.door]?.remove(id)
        if view.goodbye == nil { count(view, by: -1) }
        return session
    }

    /// Its goodbye goes out: from here it takes no room and gets no other. Nil when it had one, or is gone.
    mutating func close(_ id: SessionID, _ goodbye: Goodbye) -> SessionView? {
        guard let view = byID[id]?.view, view.goodbye == nil else { return nil }
        count(view, by: -1)
        byID[id]?.view.goodbye = goodbye
        return byID[id]?.view
    }

    /// Changes what is shown; the indexed fields must stay.
    mutating func update(_ id: SessionID, _ change: (inout Session) -> Void) {
        guard var session = byID[id] else { return }
        change(&session)
        byID[id] = session
    }

    private mutating func count(_ view: SessionView, by step: Int) {
        if view.door == .remote { remoteCount += step }
        if view.away { presence.away += step } else { presence.home += step }
    }

    private func sessions(_ ids: Set<SessionID>?) -> [Session] {
        (ids ?? []).compactMap { byID[$0] }.sorted { $0.serial < $1.serial }
    }
}
