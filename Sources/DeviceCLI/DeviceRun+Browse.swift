// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice

extension DeviceRun {
    /// `browse`: lists the hosts on this machine's networks as they come and go.
    func browse(until: DeviceCommand.BrowseEnd) async throws(DeviceError) -> ExitCode {
        let device = try openDevice()
        let names = Dictionary(try device.hosts().map { ($0.id, $0.name) }, uniquingKeysWith: { $1 })
        let (wakes, sink) = AsyncStream.makeStream(of: Wake.self)
        let inbox = BrowseInbox()
        let browser = HostBrowser(device: device) { if inbox.put($0) { sink.yield(.told) } }
        do {
            try browser.start { if inbox.put($0) { sink.yield(.told) } }
        } catch {
            throw DeviceError(.storage, error.message)
        }
        let telling = BrowseTelling(until: until, json: command.json, names: names)
        let code = await follow(wakes, sink, inbox, telling)
        browser.stop()
        return code
    }

    /// What there is to look at: few of each, however much the search tells.
    private enum Wake: Sendable {
        /// The inbox is not empty.
        case told
        /// Of nobody but the clock and the person.
        case news(BrowseNews)
    }

    private func follow(
        _ wakes: AsyncStream<Wake>, _ sink: AsyncStream<Wake>.Continuation, _ inbox: BrowseInbox,
        _ start: BrowseTelling
    ) async -> ExitCode {
        let console = console
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { sink.yield(.news(.stop(await console.stopRequest()))) }
            if let limit = start.until.limit {
                group.addTask {
                    // Cancelled only when it was over before.
                    if (try? await Task.sleep(for: limit)) != nil { sink.yield(.news(.time)) }
                }
            }
            var telling = start
            following: for await wake in wakes {
                let news = if case .news(let item) = wake { [item] } else { inbox.take() }
                for item in news {
                    telling.take(item)
                    if !telling.out.isEmpty { console.write(telling.out) }
                    if !telling.complaint.isEmpty { console.complain(telling.complaint) }
                    if telling.end != nil { break following }
                }
            }
            group.cancelAll()
            return telling.end ?? .done
        }
    }
}
