// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The dials of a kept session: each on a task of its own, which answers by what it feeds.
extension KeptSession {
    /// The remote addresses as they are saved now.
    func remotePlaces() -> [DialCandidate] {
        let host = (try? device.host(first.host.id)) ?? first.host
        return device.candidates(for: host).filter { $0.door == .remote }
    }

    /// The same, pinned to the saved key.
    func remoteTargets() -> [DialRun.Target] {
        remotePlaces().compactMap { try? device.target($0, of: first.host) }
    }

    /// Dials a row of the network; by `interface` alone when there is one.
    func dialRow(
        _ number: Int, _ row: BrowsedRow, interface: String?, isMove: Bool, _ group: inout DiscardingTaskGroup
    ) {
        let targets = row.endpoints.compactMap { endpoint in
            try? device.target(
                DialCandidate(row: endpoint, isPeerToPeer: row.row.isPeerToPeer, interface: interface),
                of: first.host)
        }
        let pace = HomeComing.pace(isWired: interface != nil, isMove: isMove)
        dial(number, targets, pace: pace, row: row, &group)
    }

    /// Begins a dial of this number.
    func dial(
        _ number: Int, _ targets: [DialRun.Target], pace: DialRace.Pace = .dial, row: BrowsedRow? = nil,
        _ group: inout DiscardingTaskGroup
    ) {
        let (device, host, feed) = (device, first.host, feed)
        let viewport = row == nil ? nil : options.homeViewport
        // A task of its own, so that it alone can be given up; the group waits for it.
        let task = Task {
            let network = await blocking { DeviceNetwork.read() } ?? DeviceNetwork(nil)
            var run = device.run(targets, on: network, host: host)
            run.pace = pace
            run.isRow = row != nil
            run.viewport = viewport
            let save = run.onNote
            run.onNote = { note in
                save(note)
                feed.yield(.note(number, note))
            }
            let (session, report) = await device.open(host, run)
            if Task.isCancelled { await session?.close() }
            let place = report.winner.map { targets[$0].place }
            feed.yield(.dialled(number, Task.isCancelled ? nil : session, place, row?.row, report))
        }
        dials[number] = task
        group.addTask { await task.value }
    }
}
