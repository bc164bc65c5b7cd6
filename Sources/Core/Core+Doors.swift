// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Wire

/// The listeners and the networks under them (03 §2, 05 A3).
extension Core {
    /// What a door's listener does now, from its workers. A report for a door that is not wanted (any more) is late and
    /// dropped.
    package mutating func doorState(_ door: Door, _ state: DoorState, _ moment: Moment) {
        settle(moment)
        guard self[door].wantedPort != nil, self[door].state != state else { return }
        switch state {
        case .listening(let port):
            self[door].retryAt = nil
            self[door].isInTrouble = false
            log(.info, "door open", [("door", door.rawValue), ("port", String(port))])
        case .portInUse(let port):
            trouble(door, "port \(port) is in use by another program", moment)
        case .failed(let problem): trouble(door, problem, moment)
        case .off, .starting: break
        }
        setState(door, state)
        if door == .remote { remoteChanged(moment) }
        refreshHostInfo()
        refreshWindow(moment)
    }

    /// The machine's networks changed. A connection's origin stays what it was; doors in trouble try again at once. Kind 18
    /// follows when the look at all of it is done (`reachabilityRead`).
    package mutating func interfacesChanged(_ table: InterfaceTable, _ moment: Moment) {
        settle(moment)
        guard table != interfaces else { return }
        interfaces = table
        serviceNames = ServiceNames(table, vpns: reachability.evidence?.vpns ?? [])
        for door in Door.allCases where self[door].retryAt != nil { retry(door, moment) }
        refreshAdvertisement()
    }

    /// Opens and closes what the switches and the window ask for. Home: always. Remote: remote access, or a window for
    /// remote. A door that the command line has taken away stays closed; its streaming process asks about it. Another port replaces the listener; the connections it accepted live on.
    mutating func updateDoors(_ moment: Moment) {
        guard isRunning else { return }
        let wantsRemote =
            overrides.hasRemoteDoor && (settings.remoteAccess || (opened?.isForRemote ?? false))
        want(.home, isStopping ? nil : overrides.homePort)
        want(.remote, wantsRemote && !isStopping ? settings.remotePort : nil)
        remoteChanged(moment)
    }

    /// The remote door, or what it is for, is another: what is watched and reported may be so too.
    private mutating func remoteChanged(_ moment: Moment) {
        refreshWatch()
        refreshReport(moment)
        refreshMapping()
    }

    /// Tries a door in trouble again; what comes of it arrives through `doorState`.
    mutating func retry(_ door: Door, _ moment: Moment) {
        guard let port = self[door].wantedPort else { return }
        self[door].retryAt = moment.now + limits.listenRetry
        emit(.openDoor(door, port: port))
    }

    /// Composes kind 18 again and has it sent when anything in it is another (01 §6).
    mutating func refreshHostInfo() {
        let info = HostInfo(
            macID: host.fingerprint.id.text, name: hostName, issuedAt: 0,
            remoteAccess: settings.remoteAccess, remotePort: knownRemotePort,
            internet: settings.effectiveInternet,
            addresses: addresses)
        guard info != hostInfo else { return }
        hostInfo = info
        emit(.broadcastHostInfo)
    }

    private mutating func want(_ door: Door, _ port: Int?) {
        guard self[door].wantedPort != port else { return }
        self[door].wantedPort = port
        self[door].retryAt = nil
        self[door].isInTrouble = false
        if let port {
            setState(door, .starting)
            emit(.openDoor(door, port: port))
        } else {
            // The record goes first, so that no device finds a host that is leaving.
            setState(door, .off)
            emit(.closeDoor(door))
            log(.info, "door closed", [("door", door.rawValue)])
        }
    }

    /// One line for a whole episode, then a try every 30 s and at each network change.
    private mutating func trouble(_ door: Door, _ problem: String, _ moment: Moment) {
        if !self[door].isInTrouble {
            log(.warning, "door cannot listen", [("door", door.rawValue), ("problem", problem)])
        }
        self[door].isInTrouble = true
        self[door].retryAt = moment.now + limits.listenRetry
    }

    private mutating func setState(_ door: Door, _ state: DoorState) {
        guard self[door].state != state else { return }
        self[door].state = state
        emit(.event(.doorChanged(door, state)))
        refreshAdvertisement()
    }
}
