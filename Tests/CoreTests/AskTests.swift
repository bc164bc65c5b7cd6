// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// 03 §12 and §13 against the state machine.
struct AskTests {
    func unlocked() -> Driver {
        let driver = Driver()
        driver.core.logind = .unlocked
        return driver
    }

    @Test func lockedUntilSaidOtherwiseAndAgainAfter90s() {
        let driver = Driver()
        #expect(driver.ask("U")?.reason == "locked")
        #expect(driver.core.status(driver.moment).request?.state == .locked)
        driver.unlock()
        driver.wait(until: 89.9)
        #expect(driver.ask("U")?.reason == "shown")
        #expect(driver.core.status(driver.moment).request?.state == .showing)
        driver.wait(until: 90)
        #expect(driver.lockChanges == [.unlocked, .locked])
        #expect(driver.ask("V")?.reason == "locked")
    }

    @Test func whatLogindSaysIsToldAtOnce() {
        let driver = Driver()
        driver.input { $0.logindSays(.unlocked, $1) }
        driver.input { $0.logindSays(.unlocked, $1) }
        driver.input { $0.logindSays(.silent, $1) }
        #expect(driver.lockChanges == [.unlocked, .locked])
    }

    @Test func aWordThatRanOutIsNotWaitedFor() {
        let driver = Driver()
        driver.input { $0.logindSays(.unlocked, $1) }
        driver.unlock()
        driver.wait(until: 91)
        #expect(driver.core.nextDeadline == nil)
        #expect(driver.core.status(driver.moment).lock == .unlocked)
    }

    @Test func openingAWindowForARequestShowsIt() {
        let driver = Driver()
        #expect(driver.ask("U")?.reason == "locked")
        driver.wait(until: 100)
        driver.openWindow(lifetime: .seconds(600))
        #expect(driver.core.status(driver.moment).request?.state == .showing)
        driver.wait(until: 699.9)
        #expect(driver.core.status(driver.moment).request != nil)
        driver.wait(until: 700)
        #expect(driver.core.status(driver.moment).request == nil)
    }

    @Test func aCancelledWindowQuietsKeyAndSource() {
        let driver = unlocked()
        driver.wait(until: 90)
        driver.core.logind = .unlocked
        #expect(driver.ask("K", .lan(50))?.reason == "shown")
        driver.wait(until: 100)
        #expect(driver.input { $0.closeWindow(actor: .service, $1) })
        driver.wait(until: 300)
        #expect(driver.ask("M", .lan(50))?.reason == "openOnMac")
        #expect(driver.core.status(driver.moment).request?.state == .limit)
        driver.wait(until: 699.9)
        #expect(driver.ask("K", .lan(51))?.reason == "openOnMac")
        driver.wait(until: 700)
        #expect(driver.ask("K", .lan(51))?.reason == "shown")
    }

    @Test func anExpiredWindowQuietsNobody() {
        let driver = unlocked()
        driver.wait(until: 100)
        #expect(driver.ask("K")?.reason == "shown")
        driver.wait(until: 399.9)
        #expect(driver.closedWindows == [])
        driver.wait(until: 400)
        #expect(driver.closedWindows == [.expired])
        #expect(driver.ask("K")?.reason == "shown")
    }

    @Test func aStoppedWindowQuietsItsAsker() {
        let driver = unlocked()
        #expect(driver.ask("K")?.reason == "shown")
        for (number, time) in [0.0, 1, 3, 7, 15].enumerated() {
            driver.wait(until: time)
            _ = driver.pair(.home, "K", driver.wrongProof(), .lan(100 + number))
        }
        #expect(driver.closedWindows == [.stopped])
        #expect(driver.ask("K", .lan(50))?.reason == "openOnMac")
        #expect(driver.ask("M")?.reason == "openOnMac")
        #expect(driver.ask("M", .lan(51))?.reason == "shown")
    }

    /// 03 §11.2: remote access off cancels the window it served, and that quiets whoever asked for it.
    @Test func remoteAccessOffQuietsTheAskerOfItsWindow() {
        let driver = unlocked()
        driver.set { $0.remoteAccess = true }
        #expect(driver.ask("K")?.reason == "shown")
        driver.openWindow()
        driver.set { $0.remoteAccess = false }
        #expect(driver.closedWindows == [.cancelled])
        #expect(driver.ask("K")?.reason == "openOnMac")
    }

    @Test func threeWindowsIn600s() {
        let driver = unlocked()
        for (number, time) in [0.0, 100, 200].enumerated() {
            driver.wait(until: time)
            #expect(driver.ask("K\(number)", .lan(10 + number))?.reason == "shown")
            #expect(
                driver.pair(.home, "K\(number)", driver.proof("K\(number)"), .lan(10 + number))?.ok == true)
        }
        driver.wait(until: 250)
        #expect(driver.ask("N", .lan(30))?.reason == "openOnMac")
        driver.wait(until: 600)
        #expect(driver.ask("N", .lan(30))?.reason == "shown")
    }

    @Test func anOpenWindowIsShownAndAskedOfNobody() {
        let driver = unlocked()
        driver.openWindow()
        #expect(driver.ask("U")?.reason == "shown")
        #expect(driver.core.window(driver.moment)?.askedBy == nil)
        #expect(driver.core.status(driver.moment).request == nil)
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        #expect(driver.ask("U")?.reason == "shown")
    }

    @Test func fromTheHostItself() {
        let driver = unlocked()
        #expect(driver.ask("U", .host)?.reason == "openOnMac")
        #expect(
            driver.ask("U", Driver.From(source: "192.168.1.20", local: "192.168.1.20", receivedOn: 1))?.reason
                == "openOnMac")
        #expect(driver.core.status(driver.moment).request == nil)
        #expect(driver.core.window(driver.moment) == nil)
        // Whatever else: also while the host is locked.
        driver.core.logind = .locked
        #expect(driver.ask("U", .host)?.reason == "locked")
        #expect(driver.core.status(driver.moment).request == nil)
    }

    @Test func aRequestEndsWithItsWindow() {
        let driver = unlocked()
        #expect(driver.ask("U")?.reason == "shown")
        #expect(driver.core.status(driver.moment).request?.state == .showing)
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        #expect(driver.core.status(driver.moment).request == nil)
    }

    @Test func withdrawOnlyByTheVeryKey() {
        let driver = unlocked()
        _ = driver.ask("U")
        func cancel(_ word: String) -> String? {
            driver.pair(.home, word, PairRequest(method: "cancel", name: word))?.reason
        }
        #expect(cancel("V") == "closed")
        #expect(driver.core.window(driver.moment) != nil)
        #expect(cancel("U") == "closed")
        #expect(driver.core.window(driver.moment) == nil)
        #expect(driver.closedWindows == [.withdrawn])
        // Nobody is quiet, and the window still counts.
        #expect(driver.ask("U")?.reason == "shown")
        // A window that an admin took over is not the device's to close.
        _ = driver.openWindow()
        #expect(cancel("U") == "closed")
        #expect(driver.core.window(driver.moment) != nil)
    }

    @Test func kind21() throws {
        var settings = Settings()
        settings.requirePairing = false
        settings.remoteAccess = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        driver.core.logind = .unlocked
        let paired = try #require(driver.session(.home, "D", .lan(2)))
        let unpaired = try #require(driver.session(.home, "U", .lan(3)))
        driver.input { $0.pairingWanted(paired, $1) }
        #expect(driver.core.window(driver.moment) == nil)
        driver.input { $0.pairingWanted(unpaired, $1) }
        #expect(driver.core.window(driver.moment)?.askedBy?.id == Driver.key("U").id)
        _ = driver.pair(.home, "U", PairRequest(method: "cancel", name: "U"), .lan(3))
        driver.wait(until: 29.9)
        driver.input { $0.pairingWanted(unpaired, $1) }
        #expect(driver.core.window(driver.moment) == nil)
        driver.wait(until: 30)
        driver.input { $0.pairingWanted(unpaired, $1) }
        #expect(driver.core.window(driver.moment) != nil)
    }

    @Test func aRequestEndsAfter300sAndWithItsPairing() {
        let driver = Driver()
        _ = driver.ask("U")
        driver.wait(until: 299.9)
        #expect(driver.core.status(driver.moment).request != nil)
        driver.wait(until: 300)
        #expect(driver.core.status(driver.moment).request == nil)
        _ = driver.ask("U")
        driver.openWindow()
        _ = driver.pair(.home, "U", driver.proof("U"))
        #expect(driver.core.status(driver.moment).request == nil)
    }

    @Test func withoutSecretsAnAskIsBusy() {
        let driver = Driver()
        driver.suppliesEntropy = false
        driver.core.logind = .unlocked
        #expect(driver.ask("U")?.reason == "shown")
        // An open window needs none.
        #expect(driver.ask("V", .lan(9))?.reason == "shown")
        _ = driver.pair(.home, "U", PairRequest(method: "cancel", name: "U"))
        let answer = driver.ask("U")
        #expect(answer?.reason == "busy" && answer?.retryAfter == 1)
    }

    @Test func oneAskLineASourceAndMinute() {
        let driver = Driver()
        func lines() -> Int { driver.logs.count { $0.message == "ask" } }
        _ = driver.ask("U")
        _ = driver.ask("U")
        _ = driver.ask("V", .lan(77))
        #expect(lines() == 2)
        driver.wait(until: 60)
        _ = driver.ask("U")
        #expect(lines() == 3)
    }
}

extension Driver {
    /// What was told of the lock.
    var lockChanges: [LockState] {
        effects.compactMap { if case .event(.lockChanged(let state)) = $0 { state } else { nil } }
    }
}
