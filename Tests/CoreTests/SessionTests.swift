// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// A session between registering and its end (03 §5.7, §7.4, §11).
struct SessionTests {
    func none() -> SessionID { SessionID(text: "") }

    /// One that was told to go takes no room from then on, and gives none back a second time when it ends.
    @Test func aPlaceIsGivenBackOnce() throws {
        var settings = Settings()
        settings.remoteAccess = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        let first = try #require(driver.session(.remote, "D", .lan(1)))
        for number in 2...8 { #expect(driver.session(.remote, "D", .lan(number)) != nil) }
        #expect(driver.connect(.remote, "D", .lan(9)) == .goodbye("busy"))
        #expect(driver.input { $0.disconnect(first, message: nil, actor: .service, $1) })
        #expect(driver.session(.remote, "D", .lan(9)) != nil)
        #expect(driver.connect(.remote, "D", .lan(10)) == .goodbye("busy"))
        driver.input { $0.sessionEnded(first, .goodbye, $1) }
        #expect(driver.connect(.remote, "D", .lan(11)) == .goodbye("busy"))
    }

    @Test func theFirstHelloCountsCleanedAndBounded() throws {
        let driver = Driver(devices: [Driver.record("D")])
        let id = try #require(driver.session(.home, "D"))
        let long = String(repeating: "1", count: 33)
        let hello = Hello(
            appVersion: long, build: long, device: "iPad\n" + String(repeating: "x", count: 70),
            audio: Array(repeating: long, count: 17))
        driver.input { $0.sessionHello(id, hello, $1) }
        driver.input { $0.sessionHello(id, Hello(appVersion: "2"), $1) }
        let kept = driver.core.session(id)?.hello
        #expect(kept?.appVersion?.count == 32 && kept?.build?.count == 32)
        #expect(kept?.device?.count == 64 && kept?.device?.hasPrefix("iPad x") == true)
        #expect(kept?.audio?.map(\.count) == Array(repeating: 32, count: 16))
    }

    /// A character may have a mebibyte of marks.
    @Test func aHelloOfMarksIsBounded() throws {
        let driver = Driver(devices: [Driver.record("D")])
        let id = try #require(driver.session(.home, "D"))
        let marks = "é" + String(repeating: "\u{301}", count: 1_000)
        driver.input {
            $0.sessionHello(
                id,
                Hello(
                    appVersion: marks, build: marks, device: String(repeating: marks, count: 40),
                    audio: [marks, "opus"]),
                $1)
        }
        let kept = driver.core.session(id)?.hello
        #expect(kept?.appVersion?.utf8.count == 512 && kept?.build?.utf8.count == 512)
        #expect(kept?.device?.utf8.count == 1_024 && kept?.device?.count == 1)
        #expect(kept?.audio?.map(\.utf8.count) == [512, 4])
    }

    /// The gate judged by the floor of its moment (03 §5.5).
    @Test(arguments: [(nil, nil), ("1.9", nil), ("2", "2"), ("2.1", "2.1")] as [(String?, String?)])
    func aFloorThatRoseDuringTheGate(_ version: String?, _ registered: String?) {
        let driver = Driver(devices: [Driver.record("D")])
        let id = driver.arrive(.home).id
        #expect(
            driver.input { $0.connectionReady(id, alpn: "sill/1", key: Driver.key("D"), $1) }
                == .session(floor: nil))
        driver.set { $0.minimumDeviceVersion = "2" }
        let hello = version.map { Hello(appVersion: $0) }
        let verdict = driver.input { $0.register(id, hello: hello, counters: SessionCounters(), $1) }
        #expect(driver.core.sessions().map(\.hello?.appVersion) == (registered == nil ? [] : [registered]))
        if registered == nil {
            #expect(verdict == .goodbye(driver.core.updateGoodbye(hello)))
            #expect(driver.core.counters.goodbyes == ["update": 1])
        }
    }

    /// A key that becomes paired, by a proof or an import, is paired in the sessions it has.
    @Test(arguments: [false, true]) func aSessionWhoseKeyIsPairedNow(_ imported: Bool) throws {
        var settings = Settings()
        settings.requirePairing = false
        let driver = Driver(settings)
        let id = try #require(driver.session(.home, "U"))
        #expect(driver.core.session(id)?.paired == false)
        if imported {
            let records = [Driver.record("U")]
            _ = driver.input {
                $0.propose(.importDevices(records, restoreRemoved: false), actor: .service, $1)
            }
        } else {
            driver.openWindow()
            #expect(driver.pair(.home, "U", driver.proof("U"))?.ok == true)
        }
        #expect(driver.core.session(id)?.paired == true)
        #expect(driver.core.session(id)?.device == DeviceRef(id: Driver.key("U").id, name: "U"))
        driver.set { $0.requirePairing = true }
        #expect(driver.core.session(id)?.goodbye == nil)
    }

    /// Nothing is asked of a session that was told to go: not even the window its kind 21 wants.
    @Test func aRemovedRemoteSessionWantsNothing() throws {
        var settings = Settings()
        settings.remoteAccess = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        driver.core.logind = .unlocked
        let id = try #require(driver.session(.remote, "D", .vpn))
        driver.remove("D")
        driver.input { $0.pairingWanted(id, $1) }
        #expect(driver.core.window(driver.moment) == nil)
    }

    /// 03 §11.1: sessions and connections before one, of this origin alone.
    @Test func directOffCutsWhatCameByIt() throws {
        var settings = Settings()
        settings.direct = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        let session = try #require(driver.session(.home, "D", .direct))
        let pending = driver.arrive(.home, .direct).id
        _ = driver.arrive(.home, .lan)
        driver.effects = []
        driver.set { $0.direct = false }
        #expect(driver.goodbyes.map(\.0) == [session] && driver.goodbyes.map(\.1) == ["-"])
        #expect(driver.closedConnections == [pending])
    }
}
