// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 03 §8 and §9.
struct RefusalSummaryTests {
    @Test(arguments: [
        ([0.0], ["0 (1)"]), ([0, 10, 20], ["0 (1)", "60 (2)"]),
        ([0, 10, 20, 130], ["0 (1)", "60 (2)", "130 (1)"]),
        ([0, 59.9, 60, 119], ["0 (1)", "60 (1)", "120 (2)"]),
    ])
    func lines(_ refusals: [Double], _ expected: [String]) {
        var summary = RefusalSummary()
        var lines: [String] = []
        func note(_ line: RefusalSummary.Line?, _ time: Double) {
            if let line { lines.append("\(Int(time)) (\(line.counts.reduce(0) { $0 + $1.count }))") }
        }
        func run(until time: Double) {
            while let deadline = summary.deadline, deadline <= at(time) {
                note(summary.tick(at: deadline), Double(deadline.nanoseconds) / 1e9)
            }
        }
        for time in refusals {
            run(until: time)
            note(summary.refused(.unpaired, at: at(time)), time)
        }
        run(until: 1_000)
        #expect(lines == expected)
        #expect(summary.deadline == nil)
    }

    @Test func wordsInTheirOrder() {
        var summary = RefusalSummary()
        #expect(summary.refused(.limit, at: at(0))?.text == "limit 1")
        for word in [RefusalWord.limit, .unpaired, .older, .unpaired, .vpn] {
            #expect(summary.refused(word, at: at(1)) == nil)
        }
        #expect(summary.tick(at: at(59)) == nil)
        #expect(summary.tick(at: at(60))?.text == "unpaired 2, vpn 1, older 1, limit 1")
    }

    @Test(arguments: [
        ([100.0, 102, 106], [false, false, true]), ([100, 130, 161], [false, false, false]),
        ([100, 130, 160], [false, false, false]), ([100, 130, 160.5], [false, false, false]),
        ([100, 130, 159.9, 160], [false, false, true, true]),
    ])
    func olderTries(_ tries: [Double], _ shown: [Bool]) {
        var older = OlderTries()
        #expect(tries.map { older.tried(ip("192.168.1.9"), at: at($0)) } == shown)
    }

    @Test func anOlderNoticeStands600s() {
        var older = OlderTries()
        for time in [100.0, 102, 106] { _ = older.tried(ip("192.168.1.9"), at: at(time)) }
        #expect(older.isShown(at: at(705.9)))
        #expect(!older.isShown(at: at(706)))
        // From the last try, each time.
        _ = older.tried(ip("192.168.1.9"), at: at(110))
        #expect(older.isShown(at: at(709.9)))
    }

    @Test func olderTriesOfOneSourceOnly() {
        var older = OlderTries()
        let shown = (1...9).map { older.tried(ip("192.168.1.\($0)"), at: at(1)) }
        #expect(!shown.contains(true))
    }

    struct Counted: Sendable {
        var failure: HandshakeFailure
        var home: (RefusalWord, Bool)?
        var remote: (RefusalWord, Bool)?
    }

    /// 03 §7.5.
    @Test(arguments: [
        Counted(failure: .untrusted, home: (.unpaired, true), remote: (.unpaired, true)),
        Counted(failure: .noCertificate, home: (.unpaired, true), remote: (.unpaired, true)),
        Counted(failure: .alpn, home: (.unpaired, true), remote: (.unpaired, true)),
        Counted(failure: .http, home: (.unpaired, true), remote: (.unpaired, true)),
        Counted(failure: .notTLS13, home: (.older, false), remote: (.unpaired, true)),
        Counted(failure: .deadline, home: (.unpaired, true), remote: (.unpaired, true)),
        Counted(failure: .badMessage, home: (.unpaired, true), remote: (.unpaired, true)),
        Counted(failure: .peerLeft, home: nil, remote: nil),
    ])
    func whatCountsAsWhat(_ row: Counted) {
        for (door, expected) in [(Door.home, row.home), (.remote, row.remote)] {
            let counted = row.failure.counted(at: door)
            #expect(counted?.word == expected?.0)
            #expect(counted?.isFailure == expected?.1)
        }
    }
}
