// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import Wire

@testable import Core
@testable import Host

/// Who waits for a window gets it as it was when its link was complete, whatever became of it since.
@Suite("Waiting for a window")
struct WindowDeskTests {
    private static func offer() throws -> WindowOffer {
        WindowOffer(
            id: "w1",
            link: PairingLink(
                fingerprint: try #require(Fingerprint(bytes: [UInt8](repeating: 7, count: 32))),
                secret: [UInt8](repeating: 1, count: 16), name: "Host", port: 7455, addresses: []),
            code: "482913557208", expiresAt: WallTime(milliseconds: 0), triesLeft: 5, openedBy: .admin,
            remote: true, addresses: [], isReady: true)
    }

    @Test func readyThenClosed() throws {
        let offer = try Self.offer()
        let desk = WindowDesk()
        let got = Mutex<[String?]>([])
        for _ in 0..<2 { desk.expect(offer.id) { offer in got.withLock { $0.append(offer?.id) } } }
        desk.expect("other") { _ in got.withLock { $0.append("wrong") } }
        desk.ready(offer)
        desk.closed(offer.id)
        #expect(got.withLock { $0 } == [offer.id, offer.id])
    }

    @Test func closedBeforeItWasReady() throws {
        let offer = try Self.offer()
        let desk = WindowDesk()
        let got = Mutex<[String?]>([])
        desk.expect(offer.id) { offer in got.withLock { $0.append(offer?.id) } }
        desk.closed(offer.id)
        desk.ready(offer)
        #expect(got.withLock { $0 } == [nil])
    }
}
