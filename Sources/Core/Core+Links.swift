// SPDX-License-Identifier: Apache-2.0

package import LatchkeyStream
package import Policy
internal import Wire

/// One session's second, as its door counted it.
package struct SessionSecond: Sendable {
    /// Whose.
    package var session: SessionID
    /// What was counted.
    package var second: LinkSecond
    /// Bytes that the kernel holds and has not sent: shown in a report, and never judged by (06 C2).
    package var unsentInKernel: Int

    package init(session: SessionID, second: LinkSecond, unsentInKernel: Int = 0) {
        self.session = session
        self.second = second
        self.unsentInKernel = unsentInKernel
    }
}

/// The links' judges (06 A6 to A8, C1).
extension Core {
    /// What a streaming process says of its stream in `POST /v1/sessions/{id}/seconds`.
    package enum RunningNews: Sendable, Equatable {
        /// Nothing.
        case unsaid
        /// It has stopped.
        case stopped
        /// It runs with this.
        case runs(StreamTarget)
    }

    /// What `POST …/seconds` is answered.
    package struct LinkAnswer: Sendable, Equatable {
        /// The verdict.
        package var state: LinkState
        /// Nil while the link keeps up, or the report speaks of another stream.
        package var report: LinkReport?
    }

    /// The seconds that just ended at one door worker, one for each of its sessions.
    package mutating func linkSeconds(_ seconds: [SessionSecond], _ moment: Moment) {
        settle(moment)
        guard let running = links.judged else { return }
        for item in seconds {
            let step = links.change(item.session) { entry in
                var second = item.second
                if !entry.frames.isEmpty {
                    let frames = entry.frames.removeFirst()
                    second.sent = frames.sent
                    second.withheld = frames.withheld
                }
                return entry.link.close(second, running: running, unsentInKernel: item.unsentInKernel)
            }
            if let step { tell(step, of: item.session) }
        }
    }

    /// `POST /v1/sessions/{id}/seconds`, oldest first. A delegated session is judged by them; of a relayed one their frames
    /// replace the door's estimate, a second each. Nil: there is no such session.
    package mutating func postSeconds(
        _ id: SessionID, _ seconds: [LinkSecond], running news: RunningNews, _ moment: Moment
    ) -> LinkAnswer? {
        settle(moment)
        guard let view = table[id]?.view else { return nil }
        switch news {
        case .unsaid: break
        case .stopped: links.running = .posted(nil)
        case .runs(let target): links.running = .posted(target)
        }
        refreshRunning()
        // Nobody judges one that was told to go.
        guard view.goodbye == nil else { return linkAnswer(id) }
        switch view.mode {
        case .relay:
            guard !seconds.isEmpty else { break }
            let frames = seconds.map { LinkBook.Frames(sent: $0.sent, withheld: $0.withheld) }
            let most = max(frames.count, LinkBook.framesBetweenTicks)
            _ = links.change(id) { $0.frames = Array(($0.frames + frames).suffix(most)) }
        case .delegated:
            guard let running = links.judged else { break }
            for second in seconds {
                if let step = links.change(id, { $0.link.close(second, running: running) }) {
                    tell(step, of: id)
                }
            }
        }
        return linkAnswer(id)
    }

    private func linkAnswer(_ id: SessionID) -> LinkAnswer {
        LinkAnswer(state: links[id]?.link.state ?? .fine, report: linkReport(id))
    }

    /// What is told of a session's link: nothing once another quality is wanted than the one it speaks of (06 A4).
    func linkReport(_ id: SessionID) -> LinkReport? {
        guard let report = links[id]?.link.report, report.holds(for: target) else { return nil }
        return report
    }

    /// What the stream is to run with: the wanted pair at the rate that runs, or at the limit when that is lower by now.
    var target: StreamTarget {
        var target = StreamTarget(usual: lastQuality.pair)
        if case .posted(let running?) = links.running { target.fps = min(running.fps, lastQuality.maxFPS) }
        return target
    }

    /// Looks again at what runs; when it is another stream, every session is judged afresh.
    mutating func refreshRunning() {
        let running: StreamTarget?
        switch links.running {
        case .posted(let target): running = target
        case .wanted: running = StreamTarget(usual: lastQuality.pair)
        }
        guard SessionLink.isAnother(links.judged, running) else { return }
        links.judged = running
        for id in Array(links.sessions) {
            let step = links.change(id) { entry in
                entry.frames = []
                return entry.link.reset()
            }
            if let step { tell(step, of: id) }
        }
        emit(.judgeAfresh)
    }

    private mutating func tell(_ step: SessionLink.Step, of id: SessionID) {
        guard step.isPublished || step.log != nil, let view = table[id]?.view else { return }
        if step.isPublished {
            emit(
                .event(
                    .linkChanged(
                        LinkChange(
                            session: id, device: view.device, report: links[id]?.link.report,
                            bitrate: links.judged?.encoderBitrate ?? target.encoderBitrate))))
        }
        guard let line = step.log else { return }
        let message =
            switch line {
            case .behind: "link behind"
            case .stalled: "link stalled"
            case .recovered: "link recovered"
            }
        log(
            .info, message,
            [
                ("session", id.text), ("device", view.fingerprint?.shortName ?? ""),
                ("name", view.device?.name ?? view.hello?.device ?? ""),
            ] + LinkWords.fields(line))
    }
}
