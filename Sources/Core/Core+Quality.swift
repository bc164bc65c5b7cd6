// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyStream
package import Policy
internal import Wire

/// Which of the two qualities runs, and what a device may change of them (06 A2 to A4).
extension Core {
    /// What became of the fields of a pick.
    package struct QualityPick: Sendable, Equatable {
        /// The fields that were taken.
        package var applied: [String]
        /// The fields that were dropped.
        package var refused: [String]
        /// Whether bitrate and scale go to the away pair.
        package var isAwayPair: Bool
        /// It came too fast, and changes nothing.
        package var isLimited: Bool
    }

    /// What `POST /v1/sessions/{id}/settings` is answered.
    package enum QualityPickAnswer: Sendable, Equatable {
        /// There is no such session, or it has ended.
        case notFound
        /// It was told to go: it changes nothing any more.
        case closing
        /// Nothing else changes now.
        case refused(ChangeRefusal)
        /// Nothing had to be stored; the settings in force are these.
        case done(QualityPick, Settings)
        /// The outcome follows as effect `changeDone`.
        case pending(ChangeID, QualityPick)
    }

    /// More sessions than these are not listed in `quality.changed`, of which a thousand are kept.
    package static let sessionsInEvent = 64

    /// Both quality pairs and which of them is wanted.
    package var quality: QualityView { lastQuality }

    /// All of `GET /v1/quality`.
    package var qualityReport: QualityReport {
        qualityReport(
            table.all().filter { $0.view.goodbye == nil }.map { sessionQuality($0.view) })
    }

    /// The same for one session: what its registration is answered.
    package func qualityReport(of view: SessionView) -> QualityReport {
        qualityReport([sessionQuality(view)])
    }

    /// A device's pick, as its streaming process hands it on (kind 17, 06 A4).
    package mutating func pickQuality(
        _ id: SessionID, _ change: QualityChange, actor: Actor, _ moment: Moment
    ) -> QualityPickAnswer {
        settle(moment)
        guard let view = table[id]?.view else { return .notFound }
        if view.goodbye != nil { return .closing }
        if isStopping { return .refused(.stopping) }
        if rotation != nil { return .refused(.rotationInProgress) }
        if case .tooMany(let isLogged) = links.change(id, { $0.picks.take(at: moment.now) }) ?? .apply {
            if isLogged { logPick(view, [("ignored", "more than \(QualityChangeLimit.count) a second")]) }
            let pick = QualityPick(applied: [], refused: [], isAwayPair: view.away, isLimited: true)
            return .done(pick, settings)
        }
        let results = settingsOnTheWay.map { QualityChangePolicy.apply(change, fromAway: view.away, to: $0) }
        guard let result = results.last else { return .notFound }
        let pick = QualityPick(
            applied: result.applied, refused: result.refused, isAwayPair: view.away, isLimited: false)
        if !pick.refused.isEmpty {
            logPick(view, [("refused", pick.refused.joined(separator: ", "))])
        }
        // What it names is stored for it also when an earlier one is to bring the same.
        let wish = SettingsWish(outcomes: results.map(\.settings))
        let (values, _) = toStore(wish)
        if values.isEmpty { return .done(pick, settings) }
        let row = AuditRow(
            at: moment.wall, actor: actor.text, action: "quality.pick", device: view.fingerprint?.id.text,
            remote: view.remote.ip.description, outcome: "ok",
            detail: "\(words(of: wish)), \(view.route)")
        let change = commit(
            .settings(values, requirePairing: nil),
            StoreCommit(change: .settings(values: values, requirePairing: nil), audit: [row]))
        return .pending(change, pick)
    }

    /// Looks again at who is connected and at the pairs (06 A3): one event for a change, and one line when the other pair
    /// runs. `by`: who joined or left.
    mutating func refreshQuality(by view: SessionView? = nil) {
        let before = lastQuality
        let wantsAway = AwayRule.wantsAway(table.presence, before: before.runsAway)
        lastQuality = QualityView(settings, runsAway: wantsAway)
        guard lastQuality != before else { return }
        if wantsAway != before.runsAway { logFlip(by: view) }
        refreshRunning()
        var report = qualityReport([])
        let connected = table.presence.home + table.presence.away
        report.sessions = connected > Self.sessionsInEvent ? nil : qualityReport.sessions
        emit(.event(.qualityChanged(report)))
    }

    private func qualityReport(_ sessions: [SessionQuality]) -> QualityReport {
        QualityReport(
            quality: lastQuality, presence: table.presence,
            reason: AwayRule.reason(table.presence, wantsAway: lastQuality.runsAway),
            running: links.judged, sessions: sessions)
    }

    private func sessionQuality(_ view: SessionView) -> SessionQuality {
        SessionQuality(
            session: view.id,
            quality: ConnectionQuality(settings, isAway: view.away, wantsAway: lastQuality.runsAway),
            link: linkReport(view.id))
    }

    private mutating func logFlip(by view: SessionView?) {
        let quality = lastQuality
        var fields = [
            ("runs", quality.runsAway ? "away" : "home"),
            ("why", AwayRule.reason(table.presence, wantsAway: quality.runsAway)),
        ]
        if quality.runsAway { fields.append(("away", quality.away.name)) }
        fields.append(("home", quality.home.name))
        if let view {
            fields += [
                ("session", view.id.text), ("device", view.fingerprint?.shortName ?? ""),
                ("route", view.route),
            ]
        }
        log(.info, "quality", fields)
    }

    private mutating func logPick(_ view: SessionView, _ fields: [(String, String)]) {
        log(
            .info, "quality pick",
            [("session", view.id.text), ("device", view.fingerprint?.shortName ?? "")] + fields)
    }
}
