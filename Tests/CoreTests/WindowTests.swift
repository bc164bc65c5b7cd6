// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Policy
import Testing
import Wire

@testable import Core

/// 02 §5 to §8 and 09.3 against the state machine.
struct WindowTests {
    @Test func fiveWrongProofsThenARightOne() {
        let driver = Driver()
        driver.openWindow()
        let right = driver.proof("U")
        var answers: [String] = []
        for (number, time) in [0.0, 1, 3, 7, 15].enumerated() {
            driver.wait(until: time)
            let answer = driver.pair(.home, "U", driver.wrongProof(), .lan(100 + number))
            answers.append("\(answer?.reason ?? "") \(answer?.triesLeft ?? 0)")
        }
        #expect(answers == ["code 4", "code 3", "code 2", "code 1", "stopped 0"])
        driver.wait(until: 30)
        #expect(driver.pair(.home, "U", right, .lan(120))?.reason == "closed")
        #expect(driver.core.lastWindow?.outcome == .stopped)
        #expect(!driver.core.trust.isPaired(Driver.key("U")))
        // A wrong proof is no failure for the backoff.
        #expect(driver.core.counters.refusals(.home, .unpaired) == 0)
    }

    @Test func busyIsRoundedUpToATenth() {
        let driver = Driver()
        driver.openWindow()
        _ = driver.pair(.home, "U", driver.wrongProof(), .lan(1))
        driver.wait(until: 0.91)
        let everybody = driver.pair(.home, "V", driver.proof("V"), .lan(2))
        #expect(everybody?.reason == "busy" && everybody?.retryAfter == 0.1)
        driver.wait(until: 1.25)
        let source = driver.pair(.home, "U", driver.proof("U"), .lan(1))
        #expect(source?.reason == "busy" && source?.retryAfter == 3.8)
        driver.wait(until: 5)
        #expect(driver.pair(.home, "U", driver.proof("U"), .lan(1))?.ok == true)
    }

    @Test func theVectorsOf02() throws {
        let driver = Driver()
        let wanted = OpenWindow(
            actor: Actor(text: "unix:0"),
            entropy: WindowEntropy(
                id: "w", secret: [UInt8](repeating: 0x22, count: 16), code: "482913557208"))
        _ = driver.input { $0.openWindow(wanted, $1) }
        let codeKey = try #require(
            Hex.decode("e9baf879a1cc4ac8b21554df480b6c1621671319107c91e7cb05d154f649d31d"))
        driver.input { $0.codeKeyDerived(window: "w", key: codeKey, $1) }
        let request = PairRequest(
            method: "code", proof: "dk7PZj4vHsAxj--1u9Vg7ehSn8a1tWc0RCG46YpFVO8", name: "iPad",
            model: "iPad14,1")
        let answer = driver.pair(.home, "device", request)
        #expect(
            answer
                == PairResult(
                    ok: true, proof: "6BmGWC9XT8J8OY8phhq9bASgoSnoWpRxBeqZtvRrWmk",
                    macID: "6J5657TWXV835GZ8", name: "Test Host",
                    recognitionKey: "ERERERERERERERERERERERERERERERERERERERERERE"))

        _ = driver.input { $0.openWindow(wanted, $1) }
        let link = PairRequest(
            method: "qr", proof: "AyZAJqNTU5nSKEaHx6RZOf0K5dOeygR_8JSrCV_gNOo", name: "iPad")
        #expect(
            driver.pair(.home, "device", link, .lan(9))?.proof
                == "XAX-uZPsq_Ax8fvI_sV7Ex0a-ROi19rI-FW-ykPh9TE")
    }

    /// A key that nobody can use any more is not derived: the next window's must not wait for it.
    @Test func onlyTheOpenWindowNeedsItsKey() {
        let driver = Driver()
        guard case .opened(let first) = driver.openWindow() else {
            Issue.record("no window")
            return
        }
        #expect(driver.core.needsCodeKey(window: first))
        guard case .opened(let second) = driver.openWindow(replace: true) else {
            Issue.record("no second window")
            return
        }
        #expect(!driver.core.needsCodeKey(window: first) && driver.core.needsCodeKey(window: second))
        driver.input { $0.stop($1) }
        #expect(!driver.core.needsCodeKey(window: second))
    }

    @Test func aCodeIsBusyUntilItsKeyIsThere() {
        let driver = Driver()
        let wanted = OpenWindow(actor: .service, entropy: driver.entropy())
        _ = driver.core.openWindow(wanted, driver.moment)
        let effects = driver.core.takeEffects()
        let derives = effects.contains { if case .deriveCodeKey = $0 { true } else { false } }
        #expect(derives)
        let request = driver.proof("U", "code")
        let answer = driver.pair(.home, "U", request)
        #expect(answer?.reason == "busy" && answer?.retryAfter == 1)
        driver.input { $0.codeKeyDerived(window: "other", key: Driver.codeKey("482913557208"), $1) }
        #expect(driver.pair(.home, "U", request)?.reason == "busy")
        driver.input {
            $0.codeKeyDerived(window: wanted.entropy.id, key: Driver.codeKey("482913557208"), $1)
        }
        #expect(driver.pair(.home, "U", request)?.ok == true)
    }

    @Test func okOnlyAfterTheCommit() throws {
        let driver = Driver()
        driver.openWindow()
        driver.store = nil
        #expect(driver.pair(.home, "U", driver.proof("U")) == nil)
        #expect(driver.core.window(driver.moment) == nil)
        #expect(!driver.core.trust.isPaired(Driver.key("U")))
        #expect(driver.core.lastWindow?.outcome == .used)
        let change = try #require(driver.waiting.first)
        driver.effects = []
        driver.input { $0.committed(change, .committed, $1) }
        #expect(driver.core.trust.isPaired(Driver.key("U")))
        #expect(driver.core.lastWindow?.device == Driver.key("U").id)
        let kinds = driver.effects.compactMap { effect -> String? in
            switch effect {
            case .event(.devicePaired): "paired"
            case .event(.windowClosed): "closed"
            case .answerPairing(_, let result): result.ok ? "ok" : "no"
            default: nil
            }
        }
        #expect(kinds == ["paired", "closed", "ok"])
    }

    @Test func aFailedCommitPromisesNothing() {
        let driver = Driver()
        driver.openWindow()
        driver.store = .failed(message: "disk full")
        #expect(driver.pair(.home, "U", driver.proof("U"))?.reason == "closed")
        #expect(!driver.core.trust.isPaired(Driver.key("U")))
        #expect(driver.core.lastWindow?.outcome == .used)
        #expect(driver.core.lastWindow?.device == nil)
        #expect(driver.closedWindows == [.used])
    }

    @Test func pairingAgainKeepsWhatIsNotSaid() {
        var record = Driver.record("D", name: "Old")
        record.cableDevice = "9thvTr8MQMHWVzL83q51yQ"
        let driver = Driver(devices: [record])
        driver.openWindow()
        driver.wait(until: 5)
        #expect(driver.pair(.home, "D", driver.proof("D", "code"))?.ok == true)
        let now = driver.core.device(Driver.key("D").id)
        #expect(now?.name == "D" && now?.cableDevice == record.cableDevice && now?.pairedHow == "code")
        #expect(driver.core.deviceCount == 1)
    }

    @Test func expiredForEveryProofUntilTheNextWindow() {
        let driver = Driver()
        driver.openWindow()
        let right = driver.proof("U")
        driver.wait(until: 300)
        #expect(driver.closedWindows == [.expired])
        #expect(driver.pair(.home, "U", right)?.reason == "expired")
        #expect(driver.pair(.home, "U", right)?.reason == "expired")
        driver.openWindow()
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        #expect(driver.pair(.home, "U", right)?.reason == "closed")
    }

    @Test func neverOpenIsClosed() {
        let driver = Driver()
        #expect(driver.pair(.home, "U", driver.wrongProof())?.reason == "closed")
        #expect(
            driver.pair(.home, "U", PairRequest(version: 2, method: "qr", proof: "", name: "x"))?.reason
                == "closed")
    }

    @Test func versionTwoUsesNoTryAndAnUnknownMethodDoes() {
        let driver = Driver()
        driver.openWindow()
        var later = driver.proof("U")
        later.version = 2
        #expect(driver.pair(.home, "U", later)?.reason == "closed")
        #expect(driver.core.window(driver.moment)?.triesLeft == 5)
        var fax = driver.proof("U")
        fax.method = "fax"
        let answer = driver.pair(.home, "U", fax)
        #expect(answer?.reason == "code" && answer?.triesLeft == 4)
        #expect(driver.pair(.remote, "U", PairRequest(method: "ask", name: "U"))?.reason == "closed")
        #expect(driver.core.window(driver.moment)?.triesLeft == 4)
    }

    @Test func aTextThatIsNoBase64IsAWrongProof() {
        let driver = Driver()
        driver.openWindow()
        let answer = driver.pair(.home, "U", PairRequest(method: "qr", proof: "no!", name: "U"))
        #expect(answer?.reason == "code" && answer?.triesLeft == 4)
    }

    /// 03 §5.6: a connection that the remote door let in for another window.
    @Test func aWindowForHomeTakesNoProofAtTheRemoteDoor() {
        let driver = Driver()
        driver.openWindow()
        guard case .pairing(let id) = driver.connect(.remote, "U", alpn: .pairing) else {
            Issue.record("no pairing connection")
            return
        }
        driver.openWindow(remote: false, replace: true)
        let proof = driver.proof("U")
        driver.input { $0.pairingMessage(id, proof, $1) }
        #expect(driver.answer(to: id)?.reason == "closed")
        #expect(driver.core.window(driver.moment)?.triesLeft == 5)
        #expect(driver.pair(.home, "U", proof)?.ok == true)
    }

    /// Nothing beyond the one message is ever judged (02 §5.2).
    @Test func aConnectionHasOneMessage() {
        let driver = Driver()
        driver.openWindow()
        driver.store = nil
        guard case .pairing(let id) = driver.connect(.home, "U", alpn: .pairing) else {
            Issue.record("no pairing connection")
            return
        }
        let proof = driver.proof("U")
        driver.input { $0.pairingMessage(id, proof, $1) }
        driver.input { $0.pairingMessage(id, proof, $1) }
        #expect(driver.answer(to: id) == nil)
        for change in driver.waiting { driver.input { $0.committed(change, .committed, $1) } }
        #expect(driver.answer(to: id)?.ok == true)
    }

    @Test func aWindowIsOverAtItsEndTicksOrNot() {
        let driver = Driver()
        driver.openWindow()
        driver.now = 299.999
        #expect(driver.core.window(driver.moment) != nil)
        driver.now = 300
        #expect(driver.core.window(driver.moment) == nil)
    }

    @Test func aProofForAnotherKeyIsWrong() {
        let driver = Driver()
        driver.openWindow()
        #expect(driver.pair(.home, "V", driver.proof("U"))?.reason == "code")
    }

    /// 09.3.
    @Test func openingOverAnother() {
        let driver = Driver()
        #expect(driver.openWindow() == .opened(id: "w2"))
        #expect(driver.openWindow() == .alreadyOpen)
        #expect(driver.openWindow(replace: true) == .opened(id: "w4"))
        #expect(driver.closedWindows == [.cancelled])
        _ = driver.input { $0.closeWindow(actor: .service, $1) }

        driver.unlock()
        #expect(driver.ask("U")?.reason == "shown")
        let asked = driver.core.window(driver.moment)
        #expect(asked?.openedBy == .device && asked?.remote == false && asked?.askedBy?.name == "U")
        driver.set { $0.remoteAccess = true }
        #expect(!driver.core.hostInfo.addresses.isEmpty)
        #expect(driver.core.window(driver.moment)?.link.addresses.isEmpty == true)
        #expect(driver.connect(.remote, "V", alpn: .pairing) == .refusedInHandshake)
        let taken = driver.openWindow()
        #expect(taken == .takenOver(id: asked?.id ?? ""))
        let now = driver.core.window(driver.moment)
        #expect(driver.core.trust.remotePairingOpen)
        #expect(now?.openedBy == .admin && now?.remote == true && now?.askedBy?.name == "U")
        #expect(now?.code == asked?.code && now?.expiresAt == asked?.expiresAt)
        #expect(now?.link.addresses.isEmpty == false)
        #expect(driver.openWindow() == .alreadyOpen)
        // Cancelling it still quiets its asker.
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        #expect(driver.ask("U")?.reason == "openOnMac")
    }

    @Test func takingOverForHomeKeepsItHome() {
        let driver = Driver()
        driver.unlock()
        _ = driver.ask("U")
        driver.effects = []
        _ = driver.openWindow(remote: false, openedBy: .host)
        #expect(driver.core.window(driver.moment)?.remote == false)
        #expect(driver.core.window(driver.moment)?.openedBy == .admin)
        #expect(driver.doorEffects == [])
    }

    @Test func replacingADevicesWindowQuietsNobody() {
        let driver = Driver()
        driver.unlock()
        _ = driver.ask("U")
        driver.effects = []
        _ = driver.openWindow(replace: true)
        #expect(driver.closedWindows == [.withdrawn])
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        #expect(driver.ask("U")?.reason == "shown")
    }

    @Test func theRemoteDoorRunsForARemoteWindow() {
        let driver = Driver()
        driver.openWindow()
        #expect(driver.doorEffects == ["open remote 7455"])
        #expect(driver.pair(.remote, "U", driver.proof("U"))?.ok == true)
        #expect(driver.doorEffects == ["open remote 7455", "close remote"])
        #expect(driver.connect(.remote, "U") == .goodbye("remoteOff"))
        #expect(driver.connect(.remote, "U", .internet) == .refusedAtStart(.internet))
    }

    @Test func remoteAccessOffCancelsARemoteWindowOnly() {
        var settings = Settings()
        settings.remoteAccess = true
        for remote in [true, false] {
            let driver = Driver(settings)
            driver.openWindow(remote: remote)
            driver.set { $0.remoteAccess = false }
            #expect(driver.closedWindows == (remote ? [.cancelled] : []))
        }
    }

    @Test func theLinkWaitsForDoorAndAddressesAtMost3s() {
        func ready(_ driver: Driver) -> Bool {
            driver.effects.contains { if case .windowReady = $0 { true } else { false } }
        }
        let slow = Driver()
        slow.opensDoors = false
        slow.openWindow()
        #expect(!ready(slow))
        slow.input { $0.doorState(.remote, .listening(port: 7455), $1) }
        #expect(ready(slow))
        #expect(slow.core.window(slow.moment)?.link.addresses.count == 3)

        let noNetwork = Driver(table: nil)
        noNetwork.openWindow()
        noNetwork.wait(until: 2.999)
        #expect(!ready(noNetwork))
        noNetwork.wait(until: 3)
        #expect(ready(noNetwork))

        let home = Driver(table: nil)
        home.openWindow(remote: false)
        #expect(ready(home))
    }

    /// 09.1.
    @Test(arguments: [(7455, 7455, 7455), (0, 40111, 7455), (9000, 9000, 9000)])
    func thePortInLinks(_ configured: Int, _ whileOpen: Int, _ whileClosed: Int) {
        var settings = Settings()
        settings.remotePort = configured
        let driver = Driver(settings)
        #expect(driver.core.hostInfo.remotePort == whileClosed)
        driver.openWindow()
        #expect(driver.core.window(driver.moment)?.link.port == whileOpen)
        #expect(driver.core.hostInfo.remotePort == whileOpen)
    }

    @Test func noSecretInAnyLogOrAuditRow() {
        let driver = Driver()
        driver.openWindow()
        let offer = driver.core.window(driver.moment)
        _ = driver.pair(.home, "U", driver.wrongProof())
        driver.wait(until: 6)
        let proof = driver.proof("U")
        _ = driver.pair(.home, "U", proof)
        let words = driver.logs.map { "\($0.message) \($0.fields)" } + driver.commits.map { "\($0.audit)" }
        let secrets = [
            offer?.code ?? "?", offer?.link.text ?? "?", proof.proof, Driver.key("U").base64url,
            Base64URL.encode(offer?.link.secret ?? []),
            Base64URL.encode(Driver.host.recognitionKey),
        ]
        for word in words {
            for secret in secrets { #expect(!word.contains(secret)) }
        }
    }
}
