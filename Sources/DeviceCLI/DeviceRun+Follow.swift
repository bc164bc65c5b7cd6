// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Synchronization

extension DeviceRun {
    /// `connect --follow`: keeps the session, a line for each change, until its time is over, a person stops it, or nothing
    /// brings it back.
    func keep(
        _ session: Session, device: Device, seconds: Double?, isConnectRemotely: Bool,
        saved: SavedStream?
    ) async throws(DeviceError) -> ExitCode {
        var options = KeptSession.Options()
        options.isConnectRemotely = isConnectRemotely
        let kept = KeptSession(session, of: device, rows: console.rows(device), options: options)
        let last = LastChange()
        let (console, isJSON) = (console, command.json)
        let end = await withTaskGroup(of: SessionEnd.self) { group in
            group.addTask {
                await kept.run { change in
                    last.change.withLock { $0 = change }
                    console.write(
                        isJSON
                            ? DeviceOutput.json(change, at: console.now())
                            : DeviceOutput.text(change, at: console.now()))
                } onMessage: { message in
                    saved?.add(message)
                }
                return .host(nil)
            }
            if let seconds {
                group.addTask {
                    // Cancelled only when another end came first.
                    _ = try? await Task.sleep(for: .seconds(seconds))
                    return .time
                }
            }
            group.addTask { .stop(await console.stopRequest()) }
            let first = await group.next() ?? .time
            group.cancelAll()
            return first
        }
        let host = (try? device.host(session.host.id)) ?? session.host
        let change = last.change.withLock { $0 }
        var report = ConnectReport(
            host: host, door: await kept.door, summary: await kept.summary(), ended: .closed)
        var code = ExitCode.done
        switch end {
        case .time: report.ended = .seconds
        case .stop(let stopped): code = stopped
        case .host:
            let words = change?.message ?? "the session is over"
            report.ended = report.summary?.goodbye == nil ? .closed : .goodbye
            code = report.summary?.goodbye == nil ? .noAnswer : .refused
            if report.summary?.goodbye == nil { report.error = DeviceError(.lost, words) }
            console.complain("latchkey-device: \(words)\n")
        }
        self.report(report)
        if let problem = saved?.problem { throw problem }
        return code
    }
}

/// Where the session leaves what became of it last.
private final class LastChange: Sendable {
    let change = Mutex<SessionChange?>(nil)
}
