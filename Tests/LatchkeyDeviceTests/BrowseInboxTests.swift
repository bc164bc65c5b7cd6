// SPDX-License-Identifier: Apache-2.0

import LatchkeyDevice
import Testing

@testable import DeviceCLI

/// However much the search tells, what waits for somebody who reads nothing stays small.
@Suite("What browse has not said yet")
struct BrowseInboxTests {
    static func row(_ number: Int) -> [BrowsedRow] { [BrowseTellingTests.row("\(number)")] }

    /// The news in words.
    static func words(_ news: [BrowseNews]) -> [String] {
        news.map { item in
            switch item {
            case .rows(let rows): rows.map(\.row.name).joined()
            case .status(.failed(let why)): why
            default: "\(item)"
            }
        }
    }

    @Test func theNewestListingAndAFewStatuses() {
        let inbox = BrowseInbox()
        #expect(inbox.put(Self.row(0)))
        for number in 1...1_000 {
            #expect(!inbox.put(.failed("s\(number)")))
            #expect(!inbox.put(Self.row(number)))
        }
        #expect(Self.words(inbox.take()) == ["1000"] + (985...1_000).map { "s\($0)" })
    }

    /// Whoever puts the first thing into it tells the reader.
    @Test func aWakeForEachTimeItWasEmpty() {
        let inbox = BrowseInbox()
        #expect(inbox.take().isEmpty)
        #expect(inbox.put(.searching) && !inbox.put(Self.row(1)))
        #expect(inbox.take().count == 2 && inbox.take().isEmpty)
        #expect(inbox.put(Self.row(2)) && !inbox.put(.complete))
        #expect(inbox.take().count == 2)
    }
}
