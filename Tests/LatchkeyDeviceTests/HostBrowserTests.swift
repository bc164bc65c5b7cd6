// SPDX-License-Identifier: Apache-2.0

import SystemBus
import Testing

@testable import LatchkeyDevice

/// The search as its owner sees it; what it finds is a journey's (test_browse.py).
@Suite("The host browser")
struct HostBrowserTests {
    @Test("without a bus it starts, says so and lists nothing; it ends, and starts again")
    func noBus() async throws {
        let test = try TemporaryDevice()
        let (statuses, sink) = AsyncStream.makeStream(of: HostBrowser.Status.self)
        let place = BusPlace(address: "unix:path=\(test.directory)/nobody")
        let browser = HostBrowser(device: test.device, bus: place) { sink.yield($0) }
        var told = statuses.makeAsyncIterator()
        for _ in 0..<2 {
            try browser.start { rows in Issue.record("\(rows) are listed by nobody") }
            #expect(throws: RowSourceError.self) { try browser.start { _ in } }
            guard case .noBus = await told.next() else {
                Issue.record("it does not say that there is no bus")
                return
            }
            try browser.savedHostsChanged()
            browser.stop()
            browser.stop()
        }
    }
}
