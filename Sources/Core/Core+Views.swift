// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// What others read. Values only.
extension Core {
    /// For `GET /v1/status` and `/healthz`.
    package func status(_ moment: Moment) -> StatusView {
        let isOlderShown = older.isShown(at: moment.now)
        let notice = older.shownUntil.map { until in
            OlderNotice(
                place: olderPlace,
                until: WallTime(
                    milliseconds: moment.wall.milliseconds + (until - moment.now).wholeNanoseconds / 1_000_000
                ))
        }
        return StatusView(
            lock: lockState(moment), homeDoor: home.state, remoteDoor: remote.state,
            wantsRemoteDoor: remote.wantedPort != nil, window: window(moment), sessions: table.count,
            devices: devices.count,
            quality: lastQuality,
            advertising: advertising,
            request: request.flatMap { moment.now < $0.ends ? $0 : nil },
            reachability: reachability.report.map { ($0.report.verdict, $0.at) },
            olderDevice: isOlderShown ? notice : nil)
    }

    /// Every registered session, in the order they came.
    package func sessions() -> [SessionView] { table.all().map { shown($0.view) } }

    /// One of them.
    package func session(_ id: SessionID) -> SessionView? { table[id].map { shown($0.view) } }

    /// The session behind a live connection's address (09.27). A link-local one may name its interface by name or by
    /// index, or leave it out, as the list of sessions does.
    package func session(remote: SocketAddress, zoneName: String?) -> SessionView? {
        let known = resolved(remote, zoneName: zoneName)
        var candidates = [known]
        if known.ip.isLinkLocal, known.ip.scope == 0, zoneName == nil {
            candidates += interfaces.interfaces.compactMap { interface in
                IPAddress(bytes: known.ip.bytes, scope: interface.index)
                    .map { SocketAddress(ip: $0, port: known.port) }
            }
        }
        for candidate in candidates {
            for door in Door.allCases {
                if let id = table.id(remote: candidate, door: door) { return session(id) }
            }
        }
        return nil
    }

    /// With how its link does now.
    func shown(_ view: SessionView) -> SessionView {
        guard let link = links[view.id]?.link else { return view }
        var view = view
        view.link = SessionLinkView(
            state: link.state, carriedKbps: link.report?.carriedKbps, suggestion: link.report?.suggestion)
        return view
    }

    /// The record of a device's own ID.
    package func device(_ id: SillID) -> DeviceRecord? {
        devices(prefix: id.text, limit: 1).first
    }

    /// Records whose ID begins so, in ID order; none for a text that is no beginning of an ID (07).
    package func devices(prefix: String, limit: Int) -> [DeviceRecord] {
        guard let prefix = DeviceIDPrefix(prefix), limit > 0 else { return [] }
        var found: [DeviceRecord] = []
        devices.forEach(from: prefix.leadingBits) { record in
            guard record.id.text.hasPrefix(prefix.text) else {
                // IDs come in order, so past the prefix there is none; before it only what shares the first bits.
                return record.id.text < prefix.text
            }
            found.append(record)
            return found.count < limit
        }
        return found
    }

    /// Records of this exact name, in ID order; people name two devices alike. Looks at all of them.
    package func devices(named name: String) -> [DeviceRecord] {
        var found: [DeviceRecord] = []
        devices.forEach { record in
            if record.name == name { found.append(record) }
            return true
        }
        return found
    }

    /// One page of all records, in ID order.
    package func devices(after: SillID?, limit: Int) -> [DeviceRecord] {
        guard limit > 0 else { return [] }
        var found: [DeviceRecord] = []
        let start = after.flatMap { DeviceIDPrefix($0.text)?.leadingBits } ?? 0
        devices.forEach(from: start) { record in
            if let after, record.id <= after { return true }
            found.append(record)
            return found.count < limit
        }
        return found
    }

    /// How many devices are paired.
    package var deviceCount: Int { devices.count }

    /// How many sessions a device has.
    package func connectedCount(_ key: Fingerprint) -> Int { table.count(of: key) }

    /// When and by whom a key was removed.
    package func tombstone(_ key: Fingerprint) -> Tombstone? { tombstones[key] }

    /// The settings that the command line fixed for this run (09.16, 09.18).
    package var overridden: [String] {
        (overrides.name == nil ? [] : ["name"]) + (overrides.remotePort == nil ? [] : ["remotePort"])
    }
}
