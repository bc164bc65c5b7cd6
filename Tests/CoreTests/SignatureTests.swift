// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// Signatures of the host's key: limited, and audited as a count.
struct SignatureTests {
    static let host = Actor(text: "token:host", isHostRole: true)

    @Test func twoHundredASecond() {
        let driver = Driver()
        func sign(_ actor: Actor = SignatureTests.host) -> Bool {
            driver.input { $0.signature(for: actor, $1) } == nil
        }
        for _ in 0..<200 { #expect(sign()) }
        #expect(!sign() && !sign(Actor(text: "unix:0")))
        driver.now = 0.005
        #expect(sign() && !sign())
        driver.now = 0.5
        let made = (0..<200).count { _ in sign() }
        #expect(made == 99)
        #expect(driver.core.counters.signatures == 300)
    }

    private static func rows(_ driver: Driver) -> [String] {
        driver.commits.flatMap(\.audit).filter { $0.action == "identity.sign" }
            .map { "\($0.actor) \($0.detail ?? "")" }
    }

    @Test func onlyWhatWasSignedIsTold() {
        let driver = Driver()
        for _ in 0..<210 { _ = driver.input { $0.signature(for: Self.host, $1) } }
        #expect(driver.input { $0.signature(for: Actor(text: "unix:0"), $1) } != nil)
        driver.wait(until: 60)
        #expect(Self.rows(driver) == ["token:host 1 signature", "token:host 199 signatures"])
    }

    @Test func oneRowAMinuteForEachCaller() {
        let driver = Driver()
        func rows() -> [String] { Self.rows(driver) }
        for time in [0.0, 1, 2, 3] {
            driver.wait(until: time)
            _ = driver.input { $0.signature(for: Self.host, $1) }
        }
        _ = driver.input { $0.signature(for: Actor(text: "unix:0"), $1) }
        #expect(rows() == ["token:host 1 signature"])
        driver.wait(until: 60)
        #expect(rows().dropFirst() == ["token:host 3 signatures", "unix:0 1 signature"])
        driver.wait(until: 1_000)
        #expect(rows().count == 3)
        _ = driver.input { $0.signature(for: Self.host, $1) }
        #expect(rows().count == 4)
    }
}
