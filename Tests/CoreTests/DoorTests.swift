// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// Listeners, kind 18, deadlines (03 §2, 01 §6, 05 A1).
struct DoorTests {
    @Test func theHomeDoorOpensAtTheStart() {
        let driver = Driver(starts: false)
        #expect(driver.core.nextDeadline == nil)
        driver.core.start(driver.moment)
        driver.settle()
        #expect(driver.doorEffects == ["open home 0"])
    }

    @Test func aHomePortOfNoneRemovesTheDoor() {
        let driver = Driver(overrides: SettingsOverrides(homePort: nil), starts: false)
        driver.core.start(driver.moment)
        driver.settle()
        #expect(driver.doorEffects == [])
    }

    /// 01 §6.2: a port only when it differs from the host's.
    @Test(arguments: [
        ("home.example.net", Int?.none), ("home.example.net:7455", nil), ("home.example.net:17455", 17455),
    ])
    func anAddressCarriesOnlyAPortOfItsOwn(_ name: String, _ port: Int?) {
        let driver = Driver()
        driver.set {
            $0.remoteAccess = true
            $0.internetAccess = true
            $0.addressName = name
        }
        let address = driver.core.hostInfo.addresses.first { $0.via == "Address name" }
        #expect(address != nil && address?.port == port)
    }

    /// 01 §6.2: never empty.
    @Test(arguments: [(" \u{200B}", "Machine", "Machine"), ("", "\n", "Mac"), ("Study", "Machine", "Study")])
    func theHostHasAName(_ set: String, _ machine: String, _ name: String) {
        var host = Driver.host
        host.fallbackName = machine
        let core = Core(
            host: host, settings: Settings(), overrides: SettingsOverrides(name: set), devices: [],
            tombstones: [], primitives: Driver.primitives)
        #expect(core.hostInfo.name == name)
    }

    @Test func remoteAccessOpensAndCloses() {
        let driver = Driver()
        driver.set { $0.remoteAccess = true }
        driver.set { $0.remotePort = 9_000 }
        driver.openWindow()
        driver.set { $0.remoteAccess = false }
        #expect(driver.doorEffects == ["open remote 7455", "open remote 9000", "close remote"])
        #expect(driver.closedWindows == [.cancelled])
    }

    @Test func aWindowForHomeOpensNoRemoteDoor() {
        let driver = Driver()
        driver.openWindow(remote: false)
        #expect(driver.doorEffects == [])
    }

    @Test func aPortInUseIsTriedEvery30sAndSaidOnce() {
        let driver = Driver()
        driver.opensDoors = false
        driver.set { $0.remoteAccess = true }
        func report(_ state: DoorState) { driver.input { $0.doorState(.remote, state, $1) } }
        func lines() -> Int { driver.logs.count { $0.message == "door cannot listen" } }
        report(.portInUse(port: 7455))
        #expect(driver.core.status(driver.moment).remoteDoor == .portInUse(port: 7455))
        #expect(driver.core.status(driver.moment).wantsRemoteDoor)
        driver.wait(until: 29.9)
        #expect(driver.doorEffects.count == 1)
        driver.wait(until: 30)
        #expect(driver.doorEffects == ["open remote 7455", "open remote 7455"])
        report(.failed(problem: "no memory"))
        driver.wait(until: 60)
        #expect(driver.doorEffects.count == 3)
        driver.input { $0.interfacesChanged(InterfaceTable([]), $1) }
        #expect(driver.doorEffects.count == 4)
        #expect(lines() == 1)
        report(.listening(port: 7455))
        driver.wait(until: 200)
        #expect(driver.doorEffects.count == 4)
        report(.failed(problem: "no memory"))
        #expect(lines() == 2)
    }

    @Test func aLateReportOfAClosedDoorIsDropped() {
        let driver = Driver()
        driver.input { $0.doorState(.remote, .listening(port: 7455), $1) }
        #expect(driver.core.status(driver.moment).remoteDoor == .off)
    }

    /// 01 §6: addresses only while remote access is on or a window for remote is open; sent again on every change.
    @Test func whatKind18Says() {
        let driver = Driver()
        func broadcasts() -> Int {
            driver.effects.count { if case .broadcastHostInfo = $0 { true } else { false } }
        }
        #expect(driver.core.hostInfo.addresses.isEmpty)
        driver.set { $0.remoteAccess = true }
        // Without addresses at first, and then with those that the look found (05 A1 rule 3).
        #expect(broadcasts() == 2)
        #expect(
            driver.core.hostInfo.addresses.map(\.host) == ["100.88.123.45", "10.99.0.2", "192.168.1.20"])
        #expect(driver.core.hostInfo.addresses.map(\.via) == ["Tailscale", "WireGuard", "Ethernet"])
        driver.set { $0.maxFPS = 60 }
        #expect(broadcasts() == 2)
        driver.set { $0.name = "Studio" }
        #expect(broadcasts() == 3 && driver.core.hostInfo.name == "Studio")
        driver.set { $0.internetAccess = true }
        #expect(broadcasts() == 4 && driver.core.hostInfo.internet)
        driver.change(Driver.table)
        #expect(broadcasts() == 4)
        driver.change(InterfaceTable([]))
        #expect(broadcasts() == 5 && driver.core.hostInfo.addresses.isEmpty)
    }

    @Test func noAddressesBeforeTheFirstLook() {
        var settings = Settings()
        settings.remoteAccess = true
        settings.internetAccess = true
        settings.addressName = "home.example.net"
        let driver = Driver(settings, table: nil)
        #expect(driver.core.hostInfo.addresses.isEmpty)
        driver.input { $0.interfacesChanged(InterfaceTable([]), $1) }
        #expect(driver.core.hostInfo.addresses.isEmpty)
        driver.change(InterfaceTable([]))
        #expect(driver.core.hostInfo.addresses.map(\.host) == ["home.example.net"])
    }

    @Test func everyDeadlineIsAnnounced() {
        let driver = Driver()
        func wakes(_ body: () -> Void) -> [MonotonicTime] {
            driver.effects = []
            body()
            return driver.effects.compactMap { if case .wake(let time) = $0 { time } else { nil } }
        }
        #expect(wakes { driver.openWindow(remote: false) } == [.seconds(300)])
        #expect(wakes { _ = driver.connect(.home, "X") } == [.seconds(60)])
        #expect(wakes { _ = driver.connect(.home, "X") } == [])
        #expect(wakes { driver.wait(until: 60) } == [.seconds(120)])
        #expect(wakes { driver.wait(until: 120) } == [.seconds(300)])
    }

    /// A tick that comes late tells the minutes one by one, and the empty one ends the timer.
    @Test func minutesAreNotJoined() {
        let driver = Driver()
        _ = driver.connect(.home, "X")
        driver.now = 10
        _ = driver.connect(.home, "X")
        driver.now = 130
        _ = driver.connect(.home, "X")
        #expect(driver.summaryLines == ["home unpaired 1", "home unpaired 1", "home unpaired 1"])
    }

    /// The late input counts something itself: both minutes are over by then, and its line goes out at once.
    @Test func aLateRefusalBeginsAMinuteOfItsOwn() {
        let driver = Driver()
        for time in [0.0, 10, 130] {
            driver.now = time
            #expect(driver.arrive(.home, .internet).verdict == .refuse(.internet))
        }
        #expect(driver.summaryLines == ["home internet 1", "home internet 1", "home internet 1"])
        #expect(driver.core[.home].summary.deadline == .seconds(190))
    }

    /// 09.34: the origin rule follows the table at once, and a placement once found stays.
    @Test func originsFollowTheTable() {
        let driver = Driver()
        let early = driver.arrive(.home, .vpn)
        #expect(early.verdict == .refuse(.vpn))
        driver.input { $0.interfacesChanged(InterfaceTable([]), $1) }
        var unknown = Driver.From.vpn
        unknown.receivedOn = nil
        #expect(driver.arrive(.home, unknown).verdict == .refuse(.internet))
    }
}
