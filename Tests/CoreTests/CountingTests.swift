// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// What counts as what, and what does not (03 §7.5), and what clears it (§7.3).
struct CountingTests {
    func remote(internet: Bool = false, floor: String = "0") -> Settings {
        var settings = Settings()
        settings.remoteAccess = true
        settings.internetAccess = internet
        settings.minimumDeviceVersion = floor
        return settings
    }

    func ready(_ driver: Driver, _ id: ConnectionID, _ word: String, _ alpn: ALPN = .session) -> ReadyVerdict
    {
        driver.input { $0.connectionReady(id, alpn: alpn.rawValue, key: Driver.key(word), $1) }
    }

    /// Backoff comes first, so a source in it is told nothing else; it counts, and fails no further.
    @Test func anOriginThatIsNotAdmittedFailsUntilTheBackoff() {
        let driver = Driver()
        for _ in 0..<5 { #expect(driver.connect(.home, "D", .vpn) == .refusedAtStart(.vpn)) }
        driver.wait(until: 100)
        #expect(driver.connect(.home, "D", .vpn) == .refusedAtStart(.limit))
        #expect(driver.core.counters.refusals(.home, .vpn) == 5)
        #expect(driver.core.counters.refusals(.home, .limit) == 1)
        driver.wait(until: 300)
        #expect(driver.connect(.home, "D", .vpn) == .refusedAtStart(.vpn))
    }

    /// 03 §10 point 5.
    @Test func internetAccessCountsOnlyUnderRemoteAccess() {
        var settings = Settings()
        settings.internetAccess = true
        let driver = Driver(settings)
        driver.openWindow()
        #expect(!driver.core.trust.effectiveInternet)
        #expect(driver.connect(.remote, "U", alpn: .pairing, .internet) == .refusedAtStart(.internet))
        #expect(driver.connect(.remote, "U", alpn: .pairing, .vpn) != .refusedAtStart(.internet))
    }

    @Test func tooManyPendingAreNoFailure() {
        let driver = Driver(devices: [Driver.record("D")])
        let pending = (0..<2).map { _ in driver.arrive(.home).id }
        for _ in 0..<6 { #expect(driver.arrive(.home).verdict == .refuse(.limit)) }
        for id in pending { driver.input { $0.connectionLeft(id, $1) } }
        #expect(driver.session(.home, "D") != nil)
        #expect(driver.core.counters.refusals(.home, .limit) == 6)
    }

    /// A paired key that is only told to go clears its source too, and `remoteOff` counts nothing.
    @Test func aPairedKeyThatIsToldToGo() {
        let driver = Driver(devices: [Driver.record("D")])
        driver.openWindow()
        for _ in 0..<2 {
            for _ in 0..<4 { #expect(driver.connect(.remote, "X") == .refusedInHandshake) }
            #expect(driver.connect(.remote, "D") == .goodbye("remoteOff"))
        }
        #expect(driver.core.counters.refusals(.remote, .limit) == 0)
        #expect(driver.core.counters.refusals(.remote, .unpaired) == 8)
    }

    @Test func whatIsRefusedAtReadyIsAFailure() {
        let driver = Driver(devices: [Driver.record("D")])
        for _ in 0..<5 {
            let id = driver.arrive(.home).id
            #expect(ready(driver, id, "U") == .refuse(.unpaired))
        }
        #expect(driver.connect(.home, "D") == .refusedAtStart(.limit))
    }

    @Test func theNinthIsToldAtReadyAlready() {
        let driver = Driver(remote(), devices: [Driver.record("D")])
        for number in 1...7 { #expect(driver.session(.remote, "D", .lan(number)) != nil) }
        #expect(ready(driver, driver.arrive(.remote, .lan(8)).id, "D") == .session(floor: nil))
        #expect(driver.session(.remote, "D", .lan(9)) != nil)
        #expect(ready(driver, driver.arrive(.remote, .lan(10)).id, "D") == .goodbye(.busy))
    }

    @Test func aConnectionIsJudgedAtReadyOnce() {
        let driver = Driver(devices: [Driver.record("D")])
        let id = driver.arrive(.home).id
        #expect(ready(driver, id, "D") == .session(floor: nil))
        #expect(ready(driver, id, "D") == .refuse(.unpaired))
    }

    /// What goes wrong in the gate is the gate's, and no failure.
    @Test func anAdmittedConnectionFailsNoHandshake() {
        let driver = Driver(remote(floor: "1.2"), devices: [Driver.record("D")])
        for _ in 0..<6 {
            let id = driver.arrive(.home).id
            _ = ready(driver, id, "D")
            driver.input { $0.connectionFailed(id, .deadline, $1) }
        }
        #expect(driver.core.counters.refusals(.home, .unpaired) == 0)
        #expect(driver.arrive(.home).verdict == .proceed(.lan))
    }

    @Test func anOlderSillIsNoticedAtTheHomeDoorOnly() {
        let driver = Driver(remote())
        for _ in 0..<3 {
            let id = driver.arrive(.remote).id
            driver.input { $0.connectionFailed(id, .notTLS13, $1) }
        }
        #expect(driver.core.status(driver.moment).olderDevice == nil)
    }

    @Test func gateRefusalsAreCountedForEachSource() {
        let driver = Driver(remote(floor: "2"), devices: [Driver.record("D")])
        func delay(_ last: Int) -> Duration {
            let id = driver.arrive(.home, .lan(last)).id
            _ = ready(driver, id, "D")
            return driver.input { $0.gateRefused(id, $1) }
        }
        for _ in 0..<5 { #expect(delay(1) == .zero) }
        #expect(delay(2) == .zero)
        #expect(delay(1) == .seconds(2))
    }

    /// 03 §5.6: with the kind 19 the origin is asked once more, and from then on the connection is not pending.
    @Test func whenTheKind19IsComplete() {
        let driver = Driver(remote(internet: true))
        driver.openWindow()
        let proof = driver.proof("U")
        guard case .pairing(let id) = driver.connect(.remote, "U", alpn: .pairing, .internet) else {
            Issue.record("no pairing connection")
            return
        }
        driver.set { $0.internetAccess = false }
        driver.effects = []
        driver.input { $0.pairingMessage(id, proof, $1) }
        #expect(driver.answer(to: id) == nil)
        #expect(driver.closedConnections == [id])
        #expect(driver.core.counters.refusals(.remote, .internet) == 1)
        #expect(!driver.core.trust.isPaired(Driver.key("U")))

        driver.store = nil
        #expect(driver.pair(.remote, "U", proof) == nil)
        let others = (0..<3).map { _ in driver.arrive(.remote).verdict }
        #expect(others == [.proceed(.lan), .proceed(.lan), .refuse(.limit)])
    }
}

extension Driver {
    /// Connections that were closed without a byte.
    var closedConnections: [ConnectionID] {
        effects.compactMap { if case .closeConnection(let id) = $0 { id } else { nil } }
    }
}
