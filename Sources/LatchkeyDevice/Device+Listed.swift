// SPDX-License-Identifier: Apache-2.0

internal import Wire

extension Device {
    /// Where the networks of this machine list a saved host now, in dial order: its home door on the network, then by a
    /// peer-to-peer link. Waits until the host is listed, until whoever answers has most likely answered, and 3 s at most
    /// (06 B4); without an Avahi there is nothing to wait for.
    public func listedPlaces(of host: SavedHost) async -> [DialCandidate] {
        let (news, sink) = AsyncStream.makeStream(of: ListedSearch.News.self)
        let browser = HostBrowser(device: self) { sink.yield(.status($0)) }
        do { try browser.start { sink.yield(.rows($0)) } } catch { return [] }
        let timer = Task {
            // Cancelled when the search came to an end before.
            _ = try? await Task.sleep(for: RemoteRowRule.patience)
            sink.yield(.timeIsUp)
        }
        var search = ListedSearch(hostID: host.id)
        for await item in news where search.take(item) { break }
        timer.cancel()
        _ = await blocking { browser.stop() }
        return search.places
    }
}

/// One look at what the network lists of one host. Pure.
struct ListedSearch {
    /// What the search says.
    enum News: Sendable {
        case rows([BrowsedRow])
        case status(HostBrowser.Status)
        case timeIsUp
    }

    let hostID: String
    private var rows: [BrowsedRow] = []

    init(hostID: String) { self.hostID = hostID }

    /// Where the host may be dialled: by its tag alone, and at a door that speaks TLS.
    var places: [DialCandidate] {
        let ours = rows.filter { $0.row.hostID == hostID && $0.row.isTLS }
        let ordered = ours.filter { !$0.row.isPeerToPeer } + ours.filter(\.row.isPeerToPeer)
        return ordered.flatMap { row in
            row.endpoints.map { DialCandidate(row: $0, isPeerToPeer: row.row.isPeerToPeer) }
        }
    }

    /// Takes what was said; whether that is enough.
    mutating func take(_ news: News) -> Bool {
        switch news {
        case .rows(let rows):
            self.rows = rows
            // By a peer-to-peer link alone: the network may still list it.
            return rows.contains { $0.row.hostID == hostID && $0.row.isTLS && !$0.row.isPeerToPeer }
        case .status(.searching): return false
        case .status, .timeIsUp: return true
        }
    }
}
