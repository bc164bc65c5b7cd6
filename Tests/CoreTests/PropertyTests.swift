// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// 03 §17, properties 7 and 8: what holds whatever comes in whatever order.
struct PropertyTests {
    struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    static let words = ["A", "B", "C", "D"]
    static let origins = [
        Driver.From.lan(1), .lan(2), .internet, .vpn, .host, .direct,
    ]

    /// Nothing that devices send changes what only the host may change.
    @Test(arguments: 1...8) func property7DevicesWidenNothing(_ seed: UInt64) {
        var random = Seeded(state: seed)
        for remote in [false, true] {
            var settings = Settings()
            settings.requirePairing = Bool.random(using: &random)
            settings.remoteAccess = remote
            let driver = Driver(settings, devices: [Driver.record("A")])
            driver.core.logind = .unlocked
            var sessions: [SessionID] = []
            for _ in 0..<300 {
                driver.wait(until: driver.now + Double.random(in: 0...20, using: &random))
                let word = Self.words.randomElement(using: &random) ?? "A"
                let from = Self.origins.randomElement(using: &random) ?? .lan
                let door = Door.allCases.randomElement(using: &random) ?? .home
                switch Int.random(in: 0..<6, using: &random) {
                case 0: if let id = driver.session(door, word, from) { sessions.append(id) }
                case 1: _ = driver.pair(door, word, PairRequest(method: "ask", name: word, cable: true), from)
                case 2: _ = driver.pair(door, word, PairRequest(method: "cancel", name: word), from)
                case 3: _ = driver.pair(door, word, driver.wrongProof(), from)
                case 4:
                    if let id = sessions.randomElement(using: &random) {
                        driver.input { $0.pairingWanted(id, $1) }
                    }
                default:
                    if let id = sessions.randomElement(using: &random) {
                        driver.input { $0.sessionHello(id, Hello(appVersion: "9", device: word), $1) }
                    }
                }
                #expect(driver.core.storedSettings == settings)
                #expect(driver.core.deviceCount == 1)
                #expect(driver.core.window(driver.moment)?.remote != true)
                #expect(driver.core.status(driver.moment).wantsRemoteDoor == remote)
                #expect(!driver.core.trust.remotePairingOpen)
            }
        }
    }

    /// However connecting, removing, switching and registering interleave, with commits that come back late, every
    /// session that was not told to go is one that the trust at rest would admit, and met the host's key of now.
    @Test(arguments: 1...12) func property8NoSessionOutlivesAChange(_ seed: UInt64) {
        var random = Seeded(state: seed &* 977)
        var settings = Settings()
        settings.direct = true
        let driver = Driver(settings, devices: Self.words.dropLast().map { Driver.record($0) })
        driver.store = nil
        var admitted: [ConnectionID] = []
        var hosts: [ConnectionID: Fingerprint] = [:]
        for step in 0..<500 {
            driver.now += Double.random(in: 0...2, using: &random)
            let word = Self.words.randomElement(using: &random) ?? "A"
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                let next = StoredIdentity(
                    fingerprint: Driver.key("host \(step)"), recognitionKey: [], createdAt: driver.moment.wall
                )
                let confirm = driver.core.host.fingerprint.id.text
                _ = driver.input {
                    $0.propose(.rotate(next, confirm: confirm), actor: Actor(text: "unix:0"), $1)
                }
            case 1...12:
                let door = Door.allCases.randomElement(using: &random) ?? .home
                let from = Self.origins.randomElement(using: &random) ?? .lan
                let (id, verdict) = driver.arrive(door, from)
                guard case .proceed = verdict else { continue }
                hosts[id] = driver.core.host.fingerprint
                let ready = driver.input {
                    $0.connectionReady(id, alpn: "sill/1", key: Driver.key(word), $1)
                }
                if case .session = ready { admitted.append(id) }
            case 13...20:
                guard !admitted.isEmpty else { continue }
                let id = admitted.remove(at: Int.random(in: 0..<admitted.count, using: &random))
                _ = driver.input { $0.register(id, hello: nil, counters: SessionCounters(), $1) }
            case 21...24: driver.remove(word)
            case 25...28:
                driver.openWindow(replace: true)
                _ = driver.pair(
                    .home, word, driver.proof(word), .lan(Int.random(in: 3...200, using: &random)))
            case 29...32:
                let bit = Int.random(in: 0..<4, using: &random)
                let isOn = Bool.random(using: &random)
                driver.set {
                    if bit == 0 { $0.requirePairing = isOn }
                    if bit == 1 { $0.remoteAccess = isOn }
                    if bit == 2 { $0.internetAccess = isOn }
                    if bit == 3 { $0.direct = isOn }
                }
            default:
                if !driver.waiting.isEmpty {
                    let id = driver.waiting.removeFirst()
                    let isFailed = Int.random(in: 0..<5, using: &random) == 0
                    driver.input {
                        $0.committed(id, isFailed ? .failed(message: "no") : .committed, $1)
                    }
                }
            }
            // The workers' part: what is cut is over.
            for case .endSession(let id, _, nil) in driver.effects {
                driver.input { $0.sessionEnded(id, .stopped, $1) }
            }
            driver.effects = []
            let trust = driver.core.trust
            var remote = 0
            for view in driver.core.sessions() where view.goodbye == nil {
                let isPaired = view.fingerprint.map { trust.isPaired($0) } ?? false
                let verdict = DoorPolicy.afterGate(
                    door: view.door, origin: view.origin, hasKey: view.fingerprint != nil, isPaired: isPaired,
                    wasPaired: view.paired, hasRoom: true, trust.switches)
                #expect(verdict == nil, "\(view.id.text)")
                #expect(view.paired == isPaired)
                #expect(view.origin != .direct || driver.core.settings.direct)
                #expect(hosts[view.connection] == driver.core.host.fingerprint, "\(view.id.text)")
                if view.door == .remote { remote += 1 }
            }
            #expect(remote <= 8)
            // Half of those that were told are gone by now.
            for view in driver.core.sessions() where view.goodbye != nil && Bool.random(using: &random) {
                driver.input { $0.sessionEnded(view.id, .goodbye, $1) }
            }
        }
        #expect(driver.core.counters.sessions > 10)
    }
}
