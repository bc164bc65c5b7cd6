// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// When the home door's record is made, changed and withdrawn (02 §7.3, 03 §2.1).
struct AdvertisingTests {
    /// What was told to be announced, in order; a withdrawal is "-".
    func told(_ driver: Driver) -> [String] {
        driver.effects.compactMap { effect in
            guard case .advertise(let record) = effect else { return nil }
            guard let record else { return "-" }
            let where_ = record.interfaces.map(String.init).joined(separator: ",")
            return "\(record.name):\(record.port) p=\(record.isPairingRequired ? 1 : 0) on \(where_)"
        }
    }

    func started(
        _ settings: Settings = Settings(), overrides: SettingsOverrides = SettingsOverrides(),
        table: InterfaceTable? = Driver.table
    ) -> Driver {
        let driver = Driver(settings, overrides: overrides, table: nil, starts: false)
        driver.core.start(driver.moment)
        driver.settle()
        if let table { driver.input { $0.interfacesChanged(table, $1) } }
        return driver
    }

    func state(_ driver: Driver) -> AdvertisingState { driver.core.status(driver.moment).advertising }

    static let first = "Test Host:54021 p=1 on 2"

    @Test func theRecordFollowsTheDoorAndTheNetwork() {
        let driver = started(table: nil)
        #expect(told(driver) == [] && state(driver) == .unavailable)
        driver.input { $0.interfacesChanged(Driver.table, $1) }
        #expect(told(driver) == [Self.first])
        driver.input { $0.interfacesChanged(InterfaceTable([]), $1) }
        #expect(told(driver) == [Self.first, "-"])
    }

    @Test func theNetworkMayBeKnownBeforeTheDoorListens() {
        let driver = Driver(table: nil, starts: false)
        driver.opensDoors = false
        driver.input { $0.interfacesChanged(Driver.table, $1) }
        driver.input { $0.start($1) }
        #expect(told(driver) == [])
        driver.input { $0.doorState(.home, .listening(port: 50_000), $1) }
        #expect(told(driver) == ["Test Host:50000 p=1 on 2"])
    }

    @Test func eachChangeIsToldOnce() {
        let driver = started()
        driver.set { $0.requirePairing = false }
        driver.set { $0.name = "Den\u{7}" }
        driver.set { $0.maxFPS = 60 }
        driver.set { $0.direct = true }
        driver.set { $0.advertise = false }
        driver.set { $0.requirePairing = true }
        driver.set { $0.advertise = true }
        #expect(
            told(driver) == [
                Self.first, "Test Host:54021 p=0 on 2", "Den:54021 p=0 on 2", "Den:54021 p=0 on 2,5", "-",
                "Den:54021 p=1 on 2,5",
            ])
    }

    @Test func addressesComeAndGoWithoutAnotherRecord() {
        let driver = started()
        let more = InterfaceTable.make(
            links: Driver.table.interfaces.map(\.link),
            addresses: [(2, Driver.address("192.168.1.21", 24)), (2, Driver.address("fd00::7", 64))],
            primary: 2)
        driver.input { $0.interfacesChanged(more, $1) }
        #expect(told(driver) == [Self.first])
    }

    @Test func interfacesHaveNamesForTheLog() {
        let core = started().core
        #expect(core.interfaceName(2) == "eth0" && core.interfaceName(99) == "99")
    }

    /// Another identity has another recognition key: the tag that is out is nobody's any more.
    @Test func anotherIdentityIsToldAgain() {
        let driver = started()
        let next = StoredIdentity(
            fingerprint: Driver.key("next"), recognitionKey: [UInt8](repeating: 0x22, count: 32),
            createdAt: WallTime(milliseconds: Driver.start + 1))
        driver.input {
            _ = $0.propose(
                .rotate(next, confirm: Driver.key("mac").id.text), actor: Actor(text: "unix:0"), $1)
        }
        #expect(told(driver) == [Self.first, Self.first])
    }

    @Test func aDoorInTroubleIsNotAnnounced() {
        let driver = started()
        driver.input { $0.doorState(.home, .failed(problem: "no memory"), $1) }
        #expect(told(driver) == [Self.first, "-"] && state(driver) == .unavailable)
        driver.input { $0.doorState(.home, .listening(port: 50_001), $1) }
        #expect(told(driver).last == "Test Host:50001 p=1 on 2")
    }

    @Test func theRemoteDoorIsNeverAnnounced() {
        let driver = started()
        driver.set { $0.remoteAccess = true }
        driver.openWindow()
        driver.set { $0.remoteAccess = false }
        #expect(told(driver) == [Self.first])
    }

    @Test func theRecordGoesFirstWhenTheServiceStops() throws {
        let driver = started()
        driver.effects = []
        driver.input { $0.stop($1) }
        #expect(told(driver) == ["-"] && state(driver) == .off)
        let withdrawn = try #require(
            driver.effects.firstIndex { if case .advertise(nil) = $0 { true } else { false } })
        let closed = try #require(
            driver.effects.firstIndex { if case .closeDoor = $0 { true } else { false } })
        #expect(withdrawn < closed)
        driver.input { $0.interfacesChanged(InterfaceTable([]), $1) }
        #expect(told(driver) == ["-"])
    }

    @Test(
        "nothing is announced when nobody wants it",
        arguments: [
            SettingsOverrides(advertises: false), SettingsOverrides(homePort: nil),
        ])
    func nobodyWantsIt(_ overrides: SettingsOverrides) {
        let driver = started(overrides: overrides)
        driver.set { $0.advertise = false }
        driver.set { $0.advertise = true }
        driver.input { core, _ in core.advertisingState(.on) }
        #expect(told(driver) == [] && state(driver) == .off)
    }

    @Test func anAddressOfItsOwnLimitsWhere() {
        #expect(told(started(overrides: SettingsOverrides(homeListen: Driver.ip("192.168.1.20")))).count == 1)
        let inside = started(overrides: SettingsOverrides(homeListen: Driver.ip("127.0.0.1")))
        #expect(told(inside) == [] && state(inside) == .unavailable)
    }

    /// `--no-advertise` is about this run; the setting stays free (09.16 names the options that hold a setting).
    @Test func theSettingStaysFreeUnderTheOption() {
        let driver = started(overrides: SettingsOverrides(advertises: false))
        guard case .pending = driver.set({ $0.advertise = false }) else {
            Issue.record("refused")
            return
        }
        #expect(!driver.core.settings.advertise && driver.core.overridden == [])
    }

    @Test func theStatusSaysWhatBecameOfIt() {
        let driver = started()
        #expect(state(driver) == .unavailable)
        driver.input { core, _ in core.advertisingState(.on) }
        #expect(state(driver) == .on)
        driver.input { core, _ in core.advertisingState(.unavailable) }
        #expect(state(driver) == .unavailable)
        driver.input { core, _ in core.advertisingState(.on) }
        driver.set { $0.advertise = false }
        // Said before the advertiser has withdrawn it: nobody wants it any more.
        #expect(state(driver) == .off)
        driver.input { core, _ in core.advertisingState(.off) }
        driver.set { $0.advertise = true }
        #expect(state(driver) == .unavailable)
    }
}
