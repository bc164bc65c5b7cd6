// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LatchkeyStream
internal import LocalAPI
internal import Policy
internal import Wire

/// The two qualities, a device's picks, and the links (spec 06 C1).
enum QualityRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/quality", .host) { _, responder in
                responder.send(QualityItem(services.core.enter { core, _ in core.qualityReport }))
            },
            APIRoute(.post, "/v1/sessions/{id}/settings", .host) { request, responder in
                let change = try QualityChange(json: request.json())
                pick(services, request, SessionID(text: request.parameter(0)), change, responder)
            },
            APIRoute(.post, "/v1/sessions/{id}/seconds", .host) { request, responder in
                let body = try SecondsBody(json: request.json())
                let id = SessionID(text: request.parameter(0))
                let answer = services.core.enter { core, moment in
                    core.postSeconds(id, body.seconds, running: body.running, moment)
                }
                guard let answer else { throw APIProblems.sessionNotFound }
                responder.send(
                    LinkReply(state: answer.state.rawValue, link: answer.report.map { LinkReportItem($0) }))
            },
        ]
    }

    /// Answers once the store has what is promised.
    private static func pick(
        _ services: APIServices, _ request: Request, _ id: SessionID, _ change: QualityChange,
        _ responder: Responder
    ) {
        let actor = Actor(request)
        services.core.enter { core, moment in
            switch core.pickQuality(id, change, actor: actor, moment) {
            case .notFound: responder.refuse(APIProblems.sessionNotFound)
            case .closing: responder.refuse(APIProblems.sessionClosing)
            case .refused(let refusal): responder.refuse(APIProblems.refusal(refusal))
            case .done(let pick, let settings): responder.send(QualityPickReply(pick, settings))
            case .pending(let change, let pick):
                services.changes.expect(change) { outcome in
                    responder.send(later: {
                        switch outcome {
                        case .settings(let settings): return .object(QualityPickReply(pick, settings))
                        case .failed(let message):
                            return .problem(APIProblems.storeUnavailable(message))
                        case .renamed, .removed, .imported, .rotated:
                            return .problem(
                                APIProblems.storeUnavailable("the change came to another end"))
                        }
                    })
                }
            }
        }
    }
}

/// The body of `POST /v1/sessions/{id}/seconds`. A count that is negative or no integer is a 400 that names it.
struct SecondsBody {
    let seconds: [LinkSecond]
    let running: Core.RunningNews

    init(json: JSON) throws {
        let items = try json.requiredArray("seconds")
        guard items.count <= LinkSeconds.limit else {
            throw APIProblems.invalid("seconds", "seconds holds at most \(LinkSeconds.limit)")
        }
        seconds = try items.enumerated().map { index, item in
            do throws(JSONError) { return try Self.second(item) } catch {
                throw error.inside("seconds[\(index)]")
            }
        }
        switch json["running"] {
        case nil: running = .unsaid
        case .some(let value) where value.isNull: running = .stopped
        case .some:
            do throws(JSONError) {
                running = .runs(try Self.running(json.requiredObject("running")))
            } catch { throw error.field == "running" ? error : error.inside("running") }
        }
    }

    private static func second(_ json: JSON) throws(JSONError) -> LinkSecond {
        LinkSecond(
            sent: try count(json, "sent"), withheld: try count(json, "withheld"),
            taken: try count(json, "taken"), waiting: try count(json, "waiting"),
            heard: try json.requiredBool("heard"))
    }

    private static func running(_ json: JSON) throws(JSONError) -> StreamTarget {
        StreamTarget(
            bitrate: try count(json, "bitrate", from: 1), fps: try count(json, "fps", from: 1),
            captureScale: Quality.captureScale(try json.requiredDouble("captureScale")))
    }

    private static func count(_ json: JSON, _ name: String, from least: Int = 0) throws(JSONError) -> Int {
        let count = try json.requiredInt(name)
        guard count >= least else {
            throw JSONError(field: name, message: "\(name) must be at least \(least)")
        }
        return count
    }
}

extension QualityItem {
    /// Both pairs, which of them is wanted and why, and what each session is told.
    init(_ report: QualityReport) {
        let quality = report.quality
        self.init(
            runs: quality.runsAway ? "away" : "home", home: .init(quality.home), away: .init(quality.away),
            maxFPS: quality.maxFPS,
            why: Why(home: report.presence.home, away: report.presence.away, reason: report.reason),
            running: report.running.map {
                RunningItem(bitrate: $0.bitrate, fps: $0.fps, captureScale: $0.captureScale)
            },
            sessions: report.sessions?.map { SessionQualityItem($0) })
    }
}

extension SettingsBody.Quality {
    /// A pair.
    init(_ pair: Quality) { self.init(bitrate: pair.bitrate, captureScale: pair.captureScale) }
}

extension SessionQualityItem {
    /// What one session is told.
    init(_ session: SessionQuality) {
        self.init(
            id: session.session.text, away: session.quality.thisConnectionAway,
            settings: PickedSettings(session.quality.settings, maxFPS: session.quality.maxFPS),
            link: session.link.map { LinkReportItem($0) })
    }
}

extension PickedSettings {
    /// The pair that a session's controls set, and what is shared.
    init(_ pair: Quality, maxFPS: Int) {
        self.init(maxFPS: maxFPS, bitrate: pair.bitrate, captureScale: pair.captureScale)
    }
}

extension LinkReportItem {
    /// A report.
    init(_ report: LinkReport) {
        self.init(
            state: report.state.rawValue, withheldPerSecond: report.withheldPerSecond,
            bitrate: report.bitrate, carriedKbps: report.carriedKbps,
            suggestedBitrate: report.suggestion?.bitrate,
            suggestedCaptureScale: report.suggestion?.captureScale)
    }
}

extension LinkEvent {
    /// A report, or the end of one.
    init(_ change: LinkChange) {
        self.init(
            session: change.session.text, device: change.device.map { APIDeviceRef($0) },
            link: change.report.map { LinkReportItem($0) }
                ?? LinkReportItem(
                    state: LinkState.fine.rawValue, withheldPerSecond: 0, bitrate: change.bitrate))
    }
}

extension QualityPickReply {
    /// What became of a pick, under the settings that hold now.
    init(_ pick: Core.QualityPick, _ settings: Settings) {
        let pair = settings[keyPath: QualityChangePolicy.pair(pick.isAwayPair)]
        self.init(
            applied: pick.applied, refused: pick.refused, pair: pick.isAwayPair ? "away" : "home",
            settings: PickedSettings(pair, maxFPS: settings.maxFPS), limited: pick.isLimited)
    }
}
