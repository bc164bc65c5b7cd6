// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import LatchkeyDevice

/// 06 B7.
@Suite("Coming home")
struct HomeComingTests {
    static func at(_ seconds: Double) -> MonotonicTime { .seconds(seconds) }

    static let host = SavedHostListTests.host(1)

    static func row(_ id: String, tls: Bool = true, peer: Bool = false, host: String? = host.id) -> ListedRow
    {
        ListedRow(id: id, name: "Desk", hostID: host, isPeerToPeer: peer, isTLS: tls)
    }

    /// Lives a history: what is listed when, and how each move ends. Returns each try.
    static func tries(
        _ listings: [(Double, [ListedRow])], until end: Double, takes: Double = 0.1,
        host: SavedHost = host, isConnectRemotely: Bool = false,
        _ result: (String) -> HomeComing.MoveEnd
    ) -> [String] {
        var coming = HomeComing(host: host, isConnectRemotely: isConnectRemotely)
        var left = listings
        var now = listings.first?.0 ?? 0
        var tries: [String] = []
        while now <= end {
            while let next = left.first, next.0 <= now {
                coming.listed(next.1, at: at(next.0))
                left.removeFirst()
            }
            var due = left.first?.0
            switch coming.next(at: at(now)) {
            case .move(let id):
                coming.began(id, at: at(now))
                let hundredths = Int(now * 100 + 0.5)
                tries.append("\(Double(hundredths) / 100) \(id)")
                if coming.next(at: at(now)) != .nothing { tries.append("two at once") }
                coming.ended(id, result(id))
                continue
            case .wait(let time):
                let time = Double(time.nanoseconds) / 1e9
                due = due.map { min($0, time) } ?? time
            case .nothing: break
            }
            guard let due else { break }
            now = due
        }
        return tries
    }

    @Test("listed at 10, every move fails")
    func everyMoveFails() {
        #expect(
            Self.tries([(10, [Self.row("r")])], until: 300) { _ in .failed }
                == ["12.0 r", "22.0 r", "42.0 r", "82.0 r", "142.0 r", "202.0 r", "262.0 r"])
    }

    @Test("listed at 10, refused as another launch")
    func refused() {
        #expect(Self.tries([(10, [Self.row("r")])], until: 300) { _ in .refused } == ["12.0 r"])
    }

    @Test("a look-alike first, the real row later")
    func lookAlike() {
        let fake = Self.row("fake")
        #expect(
            Self.tries([(4.85, [fake]), (20, [fake, Self.row("real")])], until: 100) {
                $0 == "fake" ? .refused : .failed
            }.prefix(2) == ["6.85 fake", "20.0 real"])
    }

    @Test("a new listing starts afresh, for the time and for what was refused")
    func newListing() {
        let rows = [Self.row("r")]
        #expect(
            Self.tries([(10, rows), (13, []), (14, rows)], until: 17) { _ in .failed } == [
                "12.0 r", "16.0 r",
            ])
        #expect(
            Self.tries([(10, rows), (13, []), (14, rows)], until: 300) { _ in .refused }
                == ["12.0 r", "16.0 r"])
        // It has to be two seconds without a break.
        #expect(Self.tries([(10, rows), (11.9, []), (12, rows)], until: 14) { _ in .failed } == ["14.0 r"])
        // Another row in between is no break.
        #expect(
            Self.tries([(10, rows), (11, [Self.row("s")])], until: 13) { _ in .failed } == ["12.0 s"])
    }

    @Test("fewest tries first, then as displayed")
    func order() {
        let rows = [Self.row("a"), Self.row("b"), Self.row("c")]
        #expect(
            Self.tries([(0, rows)], until: 142) { _ in .failed }
                == ["2.0 a", "12.0 b", "32.0 c", "72.0 a", "132.0 b"])
    }

    static let passedOver: [(String, ListedRow)] = [
        ("a plain door", row("r", tls: false)), ("peer to peer", row("r", peer: true)),
        ("another host", row("r", host: "X")), ("no tag, whatever its name", row("r", host: nil)),
    ]

    @Test("rows that are passed over", arguments: passedOver)
    func passes(_ what: String, _ row: ListedRow) {
        #expect(Self.tries([(0, [row])], until: 100) { _ in .failed }.isEmpty)
    }

    @Test("hosts and sessions that stay where they are")
    func stays() {
        let rows = [(0.0, [Self.row("r")])]
        var revoked = Self.host
        revoked.revoked = true
        var newKey = Self.host
        newKey.newKey = true
        #expect(Self.tries(rows, until: 9, host: revoked) { _ in .failed }.isEmpty)
        #expect(Self.tries(rows, until: 9, host: newKey) { _ in .failed }.isEmpty)
        #expect(Self.tries(rows, until: 9, isConnectRemotely: true) { _ in .failed }.isEmpty)
        #expect(Self.tries(rows, until: 9) { _ in .failed } == ["2.0 r"])
    }

    @Test("a move that ends after its listing says nothing about the next")
    func lateEnd() {
        var coming = HomeComing(host: Self.host, isConnectRemotely: false)
        coming.listed([Self.row("r")], at: Self.at(0))
        #expect(coming.next(at: Self.at(1.9)) == .wait(Self.at(2)))
        coming.began("r", at: Self.at(2))
        coming.listed([], at: Self.at(3))
        coming.listed([Self.row("r")], at: Self.at(4))
        #expect(coming.next(at: Self.at(6)) == .nothing)
        coming.ended("r", .failed)
        #expect(coming.next(at: Self.at(6)) == .move("r"))
    }

    static let rests: [(Int, Int)] = [(0, 0), (1, 10), (2, 20), (3, 40), (4, 60), (5, 60), (1000, 60)]

    @Test("rests", arguments: rests)
    func rest(_ failures: Int, _ seconds: Int) {
        #expect(HomeComing.rest(afterFailures: failures) == .seconds(seconds))
    }

    @Test("limits")
    func limits() {
        #expect(HomeComing.limit(isWired: false) == .seconds(5))
        #expect(HomeComing.limit(isWired: true) == .milliseconds(7500))
    }

    // MARK: Acceptance

    struct Seen: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var key: UInt8? = 1
        var list: String?? = .some("L")
        var signer: UInt8? = 1
        var issuedAt = 50.0
        var isBad = false
        var goodbye = false
        var want: HomeMove.Verdict
    }

    static let seen = [
        Seen(testDescription: "all of it", want: .accept),
        Seen(testDescription: "as new as the newest", issuedAt: 42, want: .accept),
        Seen(testDescription: "older", issuedAt: 41.9, want: .refuse),
        Seen(testDescription: "not a time", issuedAt: .nan, want: .refuse),
        Seen(testDescription: "another key", key: 2, signer: nil, want: .refuse),
        Seen(testDescription: "another key, with a replayed info", key: 2, want: .refuse),
        Seen(testDescription: "another signer", signer: 2, want: .refuse),
        Seen(testDescription: "another launch", list: .some("M"), signer: nil, want: .refuse),
        Seen(testDescription: "no launch", list: .some(nil), want: .refuse),
        Seen(testDescription: "a bad info", isBad: true, want: .refuse),
        Seen(testDescription: "a goodbye", goodbye: true, want: .refuse),
        Seen(testDescription: "no info yet", signer: nil, want: .wait),
        Seen(testDescription: "no window list yet", list: .none, want: .wait),
        Seen(testDescription: "nothing yet", key: nil, list: .none, signer: nil, want: .wait),
        Seen(testDescription: "no key, which cannot be", key: nil, want: .wait),
    ]

    @Test("which connection carries the session on", arguments: seen)
    func accepts(_ row: Seen) throws {
        func pin(_ byte: UInt8) throws -> Fingerprint {
            try #require(SavedHostListTests.host(byte).pin)
        }
        let move = HomeMove(launchID: "L", pin: try pin(1), newestInfo: 42)
        var seen = HomeMove.Seen()
        seen.key = try row.key.map { try pin($0) }
        if case .some(let launch) = row.list { seen.windowList = .init(launchID: launch) }
        if let signer = row.signer {
            let key = try pin(signer)
            let info = HostInfo(
                macID: key.id.text, name: "Desk", issuedAt: row.issuedAt, remoteAccess: true,
                remotePort: 7455, internet: false, addresses: [])
            seen.info = .verified(VerifiedHostInfo(info: info, signer: key))
        }
        if row.isBad { seen.info = .bad }
        seen.hasGoodbye = row.goodbye
        #expect(move.judge(seen) == row.want)
    }
}
