// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice

extension DeviceRun {
    /// `browse`: lists the hosts on this machine's networks as they come and go.
    func browse(until: DeviceCommand.BrowseEnd) async throws(DeviceError) -> ExitCode {
        let device = try openDevice()
        let names = Dictionary(try device.hosts().map { ($0.id, $0.name) }, uniquingKeysWith: { $1 })
        let (news, sink) = AsyncStream.makeStream(of: BrowseNews.self)
        let browser = HostBrowser(device: device) { sink.yield(.status($0)) }
        do {
            try browser.start { sink.yield(.rows($0)) }
        } catch {
            throw DeviceError(.storage, error.message)
        }
        let telling = BrowseTelling(until: until, json: command.json, names: names)
        let code = await follow(news, sink, telling)
        browser.stop()
        return code
    }

    private func follow(
        _ news: AsyncStream<BrowseNews>, _ sink: AsyncStream<BrowseNews>.Continuation, _ start: BrowseTelling
    ) async -> ExitCode {
        let console = console
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { sink.yield(.stop(await console.stopRequest())) }
            if let limit = start.until.limit {
                group.addTask {
                    // Cancelled only when it was over before.
                    if (try? await Task.sleep(for: limit)) != nil { sink.yield(.time) }
                }
            }
            var telling = start
            for await item in news {
                telling.take(item)
                if !telling.out.isEmpty { console.write(telling.out) }
                if !telling.complaint.isEmpty { console.complain(telling.complaint) }
                if telling.end != nil { break }
            }
            group.cancelAll()
            return telling.end ?? .done
        }
    }
}
