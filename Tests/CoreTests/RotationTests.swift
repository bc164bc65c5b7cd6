// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Policy
import Testing
import Wire

@testable import Core

/// Another key for the host: commit, publish, identity, goodbyes, answer (07, 03 §11.1 last row).
struct RotationTests {
    static let admin = Actor(text: "unix:0")
    static let next = StoredIdentity(
        fingerprint: Driver.key("next"), recognitionKey: [UInt8](repeating: 0x22, count: 32),
        createdAt: WallTime(milliseconds: Driver.start + 1))
    static let confirm = Driver.key("mac").id.text

    private func rotate(_ driver: Driver, to next: StoredIdentity = next, _ confirm: String = confirm)
        -> ProposalAnswer
    {
        driver.input { $0.propose(.rotate(next, confirm: confirm), actor: Self.admin, $1) }
    }

    /// What the shell was told, in order, as words.
    private func order(_ driver: Driver) -> [String] {
        driver.effects.compactMap { effect in
            switch effect {
            case .commit: "commit"
            case .identityChanged: "identity"
            case .closeConnection: "close"
            case .endSession(_, _, let goodbye): goodbye?.reason ?? "cut"
            case .event(.identityRotated): "event"
            case .event(.deviceRemoved): "device event"
            case .event(.windowClosed(let outcome)): "window \(outcome.outcome.rawValue)"
            case .changeDone: "answer"
            default: nil
            }
        }
    }

    @Test func everybodyIsUnpairedAndTold() throws {
        let driver = Driver(
            ChangeTests.settings {
                $0.remoteAccess = true
                $0.requirePairing = false
            }, devices: [Driver.record("D"), Driver.record("E")])
        let own = [
            driver.session(.home, "D"), driver.session(.remote, "D", .vpn),
            driver.session(.home, "U", .lan(9)),
        ]
        driver.openWindow()
        driver.store = nil
        driver.effects = []
        guard case .pending(let id) = rotate(driver) else {
            Issue.record("not on its way")
            return
        }
        // Nothing has changed yet.
        #expect(
            driver.core.host.fingerprint == Driver.key("mac") && driver.core.trust.isPaired(Driver.key("D")))
        #expect(driver.goodbyes.isEmpty)
        driver.input { $0.committed(id, .committed, $1) }

        #expect(
            order(driver) == [
                "commit", "identity", "removed", "removed", "removed", "window cancelled", "event", "answer",
            ])
        #expect(driver.goodbyes.map(\.0) == own)
        #expect(driver.outcomes == [.rotated(closedSessions: 3)])
        #expect(driver.core.deviceCount == 0 && driver.core.trust.devices.count == 0)
        for word in ["D", "E"] {
            let tombstone = driver.core.tombstone(Driver.key(word))
            #expect(tombstone?.removedBy == "unix:0" && tombstone?.removedAt == Self.next.createdAt)
        }
        #expect(driver.core.tombstone(Driver.key("U")) == nil)
        #expect(driver.core.host.fingerprint == Driver.key("next"))
        #expect(driver.core.host.recognitionKey == Self.next.recognitionKey)
        #expect(driver.core.hostInfo.macID == Driver.key("next").id.text)
        #expect(driver.core.storedSettings.requirePairing == false && driver.core.settings.remoteAccess)
        let event = driver.effects.compactMap {
            if case .event(.identityRotated(let event)) = $0 { event } else { nil }
        }
        #expect(
            event == [
                IdentityRotation(
                    previous: Driver.key("mac"), current: Driver.key("next"), name: "Test Host",
                    removedDevices: 2, closedSessions: 3)
            ])
        let row = try #require(driver.commits.flatMap(\.audit).first { $0.action == "identity.rotate" })
        #expect(row.actor == "unix:0" && row.outcome == "ok")
        #expect(row.detail == "\(Self.confirm) → \(Driver.key("next").id.text)")
        guard
            case .rotate(let stored, let actor) = driver.commits.first(where: {
                !$0.audit.isEmpty && $0.audit[0] == row
            })?.change
        else {
            Issue.record("no such commit")
            return
        }
        #expect(stored == Self.next && actor == "unix:0")
        // Nothing that is written for people or programs holds what is secret.
        for line in driver.logs { #expect(!"\(line)".contains("34, 34, 34")) }
    }

    /// No window closes with it, no session ends, the record is not out: what it tells it tells by itself.
    @Test func aHostAtRestIsAnotherOneAtOnce() {
        let driver = Driver(
            ChangeTests.settings { $0.advertise = false }, devices: [Driver.record("D")])
        #expect(driver.core.trust.isPaired(Driver.key("D")))
        _ = rotate(driver)
        #expect(!driver.core.trust.isPaired(Driver.key("D")) && driver.core.trust.devices.count == 0)
        #expect(driver.core.hostInfo.macID == Driver.key("next").id.text)
        #expect(driver.effects.count { if case .broadcastHostInfo = $0 { true } else { false } } == 1)
        #expect(order(driver) == ["commit", "identity", "event", "answer"])
    }

    @Test func aRotationFreesTheCables() {
        let driver = Driver(devices: [CableTests.bound("D", CableTests.deviceX)])
        driver.core.logind = .unlocked
        _ = rotate(driver)
        #expect(driver.askByCable("E")?.method == "cable")
    }

    @Test func theNewHostPairsAndTheOldProofsAreWrong() {
        let driver = Driver(devices: [Driver.record("D")])
        _ = rotate(driver)
        driver.openWindow()
        #expect(driver.core.window(driver.moment)?.link.fingerprint == Driver.key("next"))
        // Made for the key that was.
        let secret = driver.core.window(driver.moment)?.link.secret ?? []
        let text = ProofText.device(fpDevice: Driver.key("D"), fpMac: Driver.key("mac"))
        let old = Base64URL.encode(Digest.hmacSHA256(key: secret, message: text))
        #expect(
            driver.pair(.home, "D", PairRequest(method: "qr", proof: old, name: "D"))?.reason == "code")
        driver.wait(until: 20)
        let answer = driver.pair(.home, "D", driver.proof("D"))
        #expect(answer?.ok == true && answer?.macID == Driver.key("next").id.text)
        #expect(answer?.recognitionKey == Base64URL.encode(Self.next.recognitionKey))
        #expect(driver.core.tombstone(Driver.key("D")) == nil)
        #expect(driver.session(.home, "D") != nil)
    }

    struct Refusal: Sendable {
        let confirm: String
        let store: CommitResult
        let answer: ProposalAnswer?
        let outcomes: [ChangeOutcome]
    }

    @Test(arguments: [
        Refusal(confirm: "", store: .committed, answer: .refused(.confirmMismatch), outcomes: []),
        Refusal(
            confirm: confirm.lowercased(), store: .committed, answer: .refused(.confirmMismatch), outcomes: []
        ),
        Refusal(
            confirm: next.fingerprint.id.text, store: .committed, answer: .refused(.confirmMismatch),
            outcomes: []),
        Refusal(
            confirm: confirm, store: .failed(message: "disk full"), answer: nil,
            outcomes: [.failed(message: "disk full")]),
    ])
    func whatChangesNothing(_ row: Refusal) {
        let driver = Driver(devices: [Driver.record("D")])
        _ = driver.session(.home, "D")
        driver.openWindow()
        let pending = driver.arrive(.home, .lan(7)).id
        driver.effects = []
        driver.store = row.store
        let answer = rotate(driver, row.confirm)
        if let expected = row.answer { #expect(answer == expected) }
        #expect(driver.outcomes == row.outcomes)
        #expect(driver.goodbyes.isEmpty && driver.closedWindows.isEmpty)
        #expect(
            driver.core.host.fingerprint == Driver.key("mac") && driver.core.trust.isPaired(Driver.key("D")))
        #expect(driver.core.tombstone(Driver.key("D")) == nil)
        // Everything goes on.
        driver.store = .committed
        #expect(
            driver.input { $0.connectionReady(pending, alpn: "sill/1", key: Driver.key("D"), $1) }
                == .session(floor: nil))
        driver.wait(until: 10)
        #expect(driver.pair(.home, "E", driver.proof("E"))?.ok == true)
    }

    @Test func nothingElseIsPromisedMeanwhile() throws {
        var record = Driver.record("D")
        record.cableDevice = nil
        let driver = Driver(devices: [record])
        driver.core.logind = .unlocked
        driver.openWindow(remote: false)
        let proof = driver.proof("P")
        driver.store = nil
        guard case .pending(let id) = rotate(driver) else {
            Issue.record("not on its way")
            return
        }
        let before = driver.commits.count
        // A right proof, an ask, one over the cable.
        let busy = [
            driver.pair(.home, "P", proof), driver.ask("Q", .lan(8)),
            driver.pair(.home, "R", PairRequest(method: "ask", name: "R", cable: true), .lan(9)),
        ]
        for answer in busy { #expect(answer?.reason == "busy" && answer?.retryAfter == 1) }
        #expect(driver.core.window(driver.moment)?.triesLeft == 5)
        // A cable is learned later.
        let cable = CableFinding(device: String(repeating: "c", count: 22), plug: "3:17/9", interface: "usb0")
        driver.input { core, _ in core.learn(Driver.key("D"), cable) }
        // Other changes wait, another rotation too.
        let changes: [Change] = [
            .rename(record.id, "x"), .remove(record.id),
            driver.core.settingsChange { $0.maxFPS = 30 },
            .importDevices([Driver.record("N")], restoreRemoved: true),
            .rotate(Self.next, confirm: Self.confirm),
        ]
        for change in changes {
            #expect(
                driver.input { $0.propose(change, actor: Self.admin, $1) } == .refused(.rotationInProgress))
        }
        #expect(driver.waiting == [id])
        #expect(
            driver.commits[before...].allSatisfy { if case .auditOnly = $0.change { true } else { false } })
        driver.input { $0.committed(id, .committed, $1) }
        #expect(driver.core.deviceCount == 0 && driver.core.tombstone(Driver.key("N")) == nil)
        driver.store = .committed
        #expect(
            driver.input { $0.propose(.rotate(Self.next, confirm: Self.confirm), actor: Self.admin, $1) }
                == .refused(.confirmMismatch))
    }

    @Test func connectionsOfTheOldKeyBecomeNothing() {
        let driver = Driver(
            ChangeTests.settings { $0.requirePairing = false }, devices: [Driver.record("D")])
        driver.core.logind = .unlocked
        func admitted(_ word: String, _ last: Int) -> ConnectionID {
            let id = driver.arrive(.home, .lan(last)).id
            #expect(
                driver.input { $0.connectionReady(id, alpn: "sill/1", key: Driver.key(word), $1) }
                    == .session(floor: nil))
            return id
        }
        let silent = driver.arrive(.home, .lan(3)).id
        // In the gate, or waiting for the cable rule: one paired, one that needs no pairing.
        let held = [admitted("D", 4), admitted("U", 5)]
        driver.openWindow()
        guard case .pairing(let pairing) = driver.connect(.home, "P", alpn: .pairing, .lan(6)) else {
            Issue.record("no pairing connection")
            return
        }
        driver.effects = []
        _ = rotate(driver)
        let closed = driver.effects.compactMap { effect -> ConnectionID? in
            if case .closeConnection(let id) = effect { id } else { nil }
        }
        #expect(Set(closed) == [silent, pairing])
        #expect(
            driver.input { $0.connectionReady(silent, alpn: "sill/1", key: Driver.key("U"), $1) }
                == .refuse(.unpaired))
        driver.input { $0.pairingMessage(pairing, PairRequest(method: "ask", name: "P"), $1) }
        #expect(driver.answer(to: pairing) == nil && driver.core.window(driver.moment) == nil)
        for id in held {
            #expect(
                driver.input { $0.register(id, hello: nil, counters: SessionCounters(), $1) }
                    == .goodbye(.removed))
        }
        #expect(driver.core.sessions().isEmpty)
        // Whoever comes now met the new key.
        #expect(driver.session(.home, "U", .lan(7)) != nil)
    }

    @Test func whatWasOnItsWayBeforeIsPartOfWhatEnds() {
        let driver = Driver(devices: [Driver.record("D")])
        driver.openWindow()
        driver.store = nil
        let proof = driver.proof("P")
        _ = driver.pair(.home, "P", proof)
        driver.remove("D")
        driver.set { $0.requirePairing = false }
        _ = rotate(driver)
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.deviceCount == 0)
        #expect(driver.core.tombstone(Driver.key("P"))?.removedAt == Self.next.createdAt)
        #expect(driver.core.tombstone(Driver.key("D"))?.removedAt != Self.next.createdAt)
        #expect(!driver.core.trust.requirePairing)
        let answers = driver.effects.compactMap {
            if case .answerPairing(_, let result) = $0 { result } else { nil }
        }
        #expect(answers.map(\.macID) == [Driver.key("mac").id.text])
    }

    @Test func aWindowThatADeviceAskedForQuietsNobody() {
        let driver = Driver()
        driver.unlock()
        #expect(driver.ask("P")?.reason == "shown")
        driver.effects = []
        _ = rotate(driver)
        #expect(driver.closedWindows == [.cancelled])
        #expect(driver.ask("P")?.reason == "shown")
        #expect(driver.closedWindows == [.cancelled] && driver.core.window(driver.moment) != nil)
    }

    @Test func aStoppingServiceTakesNone() {
        let driver = Driver()
        driver.input { $0.stop($1) }
        #expect(rotate(driver) == .refused(.stopping))
    }
}
