// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// What the cable gives, and to whom (03 §12.2 row 2, §12.5; 04 §2, §6).
struct CableTests {
    static let deviceX = "9thvTr8MQMHWVzL83q51yQ"
    static let deviceY = "RPbBQxYKYEHY16JTasIbwg"

    static func cable(_ device: String = deviceX) -> CableVerdict {
        .cable(CableFinding(device: device, plug: "3:17/9", interface: "usb0"))
    }

    static func bound(_ word: String, _ device: String?) -> DeviceRecord {
        var record = Driver.record(word)
        record.cableDevice = device
        return record
    }

    func unlocked(_ devices: [DeviceRecord] = []) -> Driver {
        let driver = Driver(devices: devices)
        driver.core.logind = .unlocked
        return driver
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var list: [DeviceRecord] = []
        var isLocked = false
        var cable = CableTests.cable()
        var claims = true
        var want: String
        /// What `list` has of K2 afterwards.
        var paired: Bool
    }

    static let rows = [
        Row(testDescription: "seen, claimed, unlocked, nobody else", want: "cable", paired: true),
        Row(testDescription: "locked", isLocked: true, want: "locked", paired: false),
        Row(testDescription: "not claimed", claims: false, want: "shown", paired: false),
        Row(
            testDescription: "claimed, not seen", cable: .not(.wrongProduct), want: "shown", paired: false),
        Row(
            testDescription: "another key of the device", list: [bound("K1", deviceX)], want: "shown",
            paired: false),
        Row(
            testDescription: "a key of another device", list: [bound("K1", deviceY)], want: "cable",
            paired: true),
        Row(testDescription: "a key without a cable", list: [bound("K1", nil)], want: "cable", paired: true),
        Row(
            testDescription: "the same key again", list: [bound("K2", deviceX)], want: "cable",
            paired: true),
    ]

    @Test(arguments: rows) func asks(_ row: Row) {
        let driver = unlocked(row.list)
        if row.isLocked { driver.core.logind = .locked }
        let answer = driver.askByCable("K2", row.cable, claims: row.claims)
        #expect((answer?.method ?? answer?.reason) == row.want)
        #expect(driver.core.trust.isPaired(Driver.key("K2")) == row.paired)
        #expect(answer?.proof == nil)
    }

    @Test func anOkHasTheFourFieldsAndTheRecordItsCable() {
        let driver = unlocked()
        let answer = driver.askByCable("K2")
        let rows = driver.commits.flatMap(\.audit).filter { $0.action == "device.pair" }
        #expect(rows.map { $0.detail?.hasSuffix(", over the USB cable") } == [true])
        #expect(
            answer
                == PairResult(
                    ok: true, macID: Driver.key("mac").id.text, name: "Test Host",
                    recognitionKey: Base64URL.encode([UInt8](repeating: 0x11, count: 32)), method: "cable"))
        let record = driver.core.device(Driver.key("K2").id)
        #expect(record?.pairedHow == "cable")
        #expect(record?.cableDevice == Self.deviceX)
        #expect(driver.order == ["commit", "paired", "answer"])
        // It has a line of its own.
        #expect(driver.lines("ask").isEmpty && driver.lines("paired").count == 1)
    }

    @Test func theSameKeyAgainSavesAndTellsNothing() {
        let driver = unlocked([Self.bound("K2", Self.deviceX)])
        #expect(driver.askByCable("K2")?.ok == true)
        #expect(driver.order == ["answer"])
    }

    @Test func aListedKeyWithoutACableLearnsIt() {
        let driver = unlocked([Self.bound("K2", nil)])
        #expect(driver.askByCable("K2")?.ok == true)
        #expect(driver.core.device(Driver.key("K2").id)?.cableDevice == Self.deviceX)
        #expect(driver.askByCable("K1")?.reason == "shown")
    }

    @Test func aFailedSaveIsAnsweredOpenOnMacAndChangesNothing() {
        let driver = unlocked()
        driver.store = .failed(message: "disk full")
        #expect(driver.askByCable("K2")?.reason == "openOnMac")
        #expect(!driver.core.trust.isPaired(Driver.key("K2")))
        #expect(driver.core.window(driver.moment) == nil)
        driver.store = .committed
        #expect(driver.askByCable("K1")?.ok == true)
    }

    @Test func ofTwoAsksOfOneDeviceAtOnceOnePairsByItself() {
        let driver = unlocked()
        driver.store = nil
        #expect(driver.askByCable("K1") == nil)
        #expect(driver.askByCable("K2")?.reason == "shown")
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.trust.isPaired(Driver.key("K1")))
        #expect(!driver.core.trust.isPaired(Driver.key("K2")))
    }

    @Test func removingFreesTheCable() {
        let driver = unlocked([Self.bound("K1", Self.deviceX)])
        #expect(driver.askByCable("K2")?.reason == "shown")
        driver.input { _ = $0.closeWindow(actor: .service, $1) }
        driver.wait(until: 700)
        driver.remove("K1")
        #expect(driver.askByCable("K2")?.ok == true)
    }

    @Test(arguments: [CommitResult.committed, .failed(message: "disk full")])
    func itsOwnAsksWindowIsWithdrawnWhateverTheStoreSays(_ result: CommitResult) {
        let driver = unlocked()
        #expect(driver.ask("K2")?.reason == "shown")
        driver.store = result
        _ = driver.askByCable("K2")
        #expect(driver.closedWindows == [.withdrawn])
        #expect(
            driver.core.askLimits.quietSince(
                key: Driver.key("K2"), source: Driver.ip("192.168.1.23"), at: driver.moment.now) == nil)
    }

    @Test func anothersWindowStays() {
        let driver = unlocked()
        driver.openWindow()
        #expect(driver.askByCable("K2")?.ok == true)
        #expect(driver.core.window(driver.moment) != nil)
    }

    @Test func pairingEndsTheRequest() {
        let driver = Driver()
        #expect(driver.askByCable("K2")?.reason == "locked")
        #expect(driver.core.status(driver.moment).request != nil)
        driver.core.logind = .unlocked
        #expect(driver.askByCable("K2")?.ok == true)
        #expect(driver.core.status(driver.moment).request == nil)
    }

    @Test func asksOverTheCableSayWhyTheyDidNotPair() {
        let driver = unlocked([Self.bound("K1", Self.deviceX)])
        _ = driver.askByCable("K2", claims: false)
        let line = driver.lines("ask").last ?? [:]
        #expect(line["notByCable"] == "another key of this device is paired")
        #expect(line["cable"] == "usb0")
        #expect(line["plug"] == "3:17/9")
        let other = unlocked()
        _ = other.askByCable("K2", claims: false)
        #expect(other.lines("ask").last?["notByCable"] == "the device did not say it is on the cable")
        #expect(Driver().askedLocked()["notByCable"] == nil)
    }

    // MARK: - Sessions

    @Test func aPairedKeysFirstSessionOverTheCableLearnsIt() {
        let driver = unlocked([Self.bound("K", nil)])
        let first = driver.sessionByCable("K")
        #expect(first?.cable == true)
        #expect(first?.route == "over the USB cable")
        #expect(driver.core.device(Driver.key("K").id)?.cableDevice == Self.deviceX)
        _ = driver.sessionByCable("K", Self.cable(Self.deviceY))
        #expect(driver.core.device(Driver.key("K").id)?.cableDevice == Self.deviceX)
    }

    @Test func aFailedBindingIsTriedAgainAtTheNextSession() {
        let driver = unlocked([Self.bound("K", nil)])
        driver.store = .failed(message: "disk full")
        _ = driver.sessionByCable("K")
        #expect(driver.core.device(Driver.key("K").id)?.cableDevice == nil)
        driver.store = .committed
        _ = driver.sessionByCable("K")
        #expect(driver.core.device(Driver.key("K").id)?.cableDevice == Self.deviceX)
    }

    /// Whatever is on its way: one commit for one cable, and the first to be durable stays.
    @Test func twoSessionsAtOnceBindOnce() {
        let driver = unlocked([Self.bound("K", nil)])
        driver.store = nil
        for _ in 0..<2 { _ = driver.sessionByCable("K") }
        #expect(driver.waiting.count == 1)
        _ = driver.sessionByCable("K", Self.cable(Self.deviceY))
        #expect(driver.waiting.count == 2)
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.device(Driver.key("K").id)?.cableDevice == Self.deviceX)
    }

    @Test func anUnpairedSessionLearnsNothingAndTheRemoteDoorHasNoCable() {
        let driver = Driver()
        driver.set { $0.requirePairing = false }
        driver.effects = []
        #expect(driver.sessionByCable("U")?.cable == true)
        #expect(driver.commits.allSatisfy { if case .bindCable = $0.change { false } else { true } })
        let remote = Driver(devices: [Self.bound("K", nil)])
        remote.set { $0.remoteAccess = true }
        let view = remote.sessionByCable("K", door: .remote)
        #expect(view?.cable == false)
        #expect(remote.core.device(Driver.key("K").id)?.cableDevice == nil)
    }

    @Test func noLineNamesTheDevicesCable() {
        let driver = unlocked()
        _ = driver.askByCable("K2")
        _ = driver.sessionByCable("K2")
        _ = driver.askByCable("K1")
        for effect in driver.effects {
            if case .log(let line) = effect {
                #expect(line.fields.allSatisfy { !$0.1.contains(Self.deviceX) })
            }
        }
        for commit in driver.commits {
            #expect(commit.audit.allSatisfy { !($0.detail ?? "").contains(Self.deviceX) })
        }
    }
}

extension Driver {
    func askByCable(
        _ word: String, _ cable: CableVerdict = CableTests.cable(), claims: Bool = true
    ) -> PairResult? {
        guard case .pairing(let id) = connect(.home, word, alpn: .pairing) else { return nil }
        let request = PairRequest(method: "ask", name: word, cable: claims ? true : nil)
        input { $0.pairingMessage(id, request, cable: cable, $1) }
        return answer(to: id)
    }

    func sessionByCable(
        _ word: String, _ cable: CableVerdict = CableTests.cable(), door: Door = .home
    ) -> SessionView? {
        let (id, _) = arrive(door, .lan)
        guard case .session = input({ $0.connectionReady(id, alpn: "sill/1", key: Driver.key(word), $1) })
        else { return nil }
        let verdict = input {
            $0.register(id, hello: nil, counters: SessionCounters(), cable: cable, $1)
        }
        if case .session(let view) = verdict { return view }
        return nil
    }

    /// The order of what a pairing causes.
    var order: [String] {
        effects.compactMap { effect in
            switch effect {
            case .commit: "commit"
            case .event(.devicePaired): "paired"
            case .answerPairing: "answer"
            default: nil
            }
        }
    }

    /// The fields of every line of this message.
    func lines(_ message: String) -> [[String: String]] {
        effects.compactMap { effect in
            guard case .log(let line) = effect, line.message == message else { return nil }
            return Dictionary(line.fields, uniquingKeysWith: { $1 })
        }
    }

    func askedLocked() -> [String: String] {
        _ = askByCable("K2", claims: false)
        return lines("ask").last ?? [:]
    }
}
