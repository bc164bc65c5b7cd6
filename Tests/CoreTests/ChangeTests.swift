// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Policy
import Testing
import Wire

@testable import Core

/// Admin changes: commit, publish, goodbyes, answer (03 §11).
struct ChangeTests {
    let admin = Actor(text: "unix:0")

    static func settings(_ change: (inout Settings) -> Void) -> Settings {
        var settings = Settings()
        change(&settings)
        return settings
    }

    @Test func aRemovalEndsEverySessionOfItsKeyOnce() throws {
        let driver = Driver(
            Self.settings { $0.remoteAccess = true }, devices: [Driver.record("D"), Driver.record("E")])
        let own = [driver.session(.home, "D"), driver.session(.remote, "D", .vpn)]
        let other = driver.session(.home, "E", .lan(9))
        driver.effects = []
        driver.store = nil
        driver.remove("D")
        // Nothing has changed yet.
        #expect(driver.core.trust.isPaired(Driver.key("D")) && driver.goodbyes.isEmpty)
        let change = try #require(driver.waiting.first)
        driver.input { $0.committed(change, .committed, $1) }
        #expect(!driver.core.trust.isPaired(Driver.key("D")))
        #expect(driver.goodbyes.map(\.0) == own)
        #expect(driver.goodbyes.map(\.1) == ["removed", "removed"])
        let order = driver.effects.compactMap { effect -> String? in
            switch effect {
            case .commit: "commit"
            case .endSession: "goodbye"
            case .changeDone: "answer"
            default: nil
            }
        }
        #expect(order == ["commit", "goodbye", "goodbye", "answer"])
        #expect(driver.outcomes == [.removed(closedSessions: 2)])
        #expect(driver.core.tombstone(Driver.key("D"))?.removedBy == "unix:0")
        #expect(driver.core.session(other ?? SessionID(text: ""))?.goodbye == nil)
        #expect(driver.remove("D") == .refused(.deviceNotFound))
    }

    @Test func aFailedRemovalChangesNothing() {
        let driver = Driver(devices: [Driver.record("D")])
        _ = driver.session(.home, "D")
        driver.store = .failed(message: "disk full")
        driver.effects = []
        driver.remove("D")
        #expect(driver.outcomes == [.failed(message: "disk full")])
        #expect(driver.goodbyes.isEmpty && driver.core.trust.isPaired(Driver.key("D")))
        #expect(driver.core.tombstone(Driver.key("D")) == nil)
    }

    @Test func removedWhileItsPairingWaits() {
        // The store answers in order, so the later word is the one that holds.
        let driver = Driver(devices: [Driver.record("D")])
        driver.openWindow()
        driver.store = nil
        let proof = driver.proof("D")
        _ = driver.pair(.home, "D", proof)
        driver.remove("D")
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(!driver.core.trust.isPaired(Driver.key("D")))
        #expect(driver.core.tombstone(Driver.key("D")) != nil)
        // An answer nobody asked for is ignored.
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.deviceCount == 0)
    }

    @Test func renames() {
        let driver = Driver(devices: [Driver.record("D")])
        let session = driver.session(.home, "D")
        let id = Driver.key("D").id
        #expect(
            driver.input { $0.propose(.rename(id, " \u{202E}\n "), actor: admin, $1) } == .refused(.emptyName)
        )
        _ = driver.input { $0.propose(.rename(id, "  Kitchen\tiPad "), actor: admin, $1) }
        #expect(driver.core.device(id)?.name == "Kitchen iPad")
        #expect(driver.core.trust.devices[Driver.key("D")]?.name == "Kitchen iPad")
        #expect(driver.core.session(session ?? SessionID(text: ""))?.device?.name == "Kitchen iPad")
        let row = driver.commits.flatMap(\.audit).last { $0.action == "device.rename" }
        #expect(row?.detail == "D → Kitchen iPad" && row?.actor == "unix:0")
    }

    @Test func theStoresAnswerCountsOnce() throws {
        let driver = Driver(devices: [Driver.record("D")])
        driver.store = nil
        _ = driver.input { $0.propose(.rename(Driver.key("D").id, "E"), actor: admin, $1) }
        let change = try #require(driver.waiting.first)
        for _ in 0..<2 { driver.input { $0.committed(change, .committed, $1) } }
        #expect(driver.outcomes.count == 1)
    }

    @Test func overriddenSettings() {
        let driver = Driver(
            Self.settings { $0.remotePort = 9_000 },
            overrides: SettingsOverrides(name: "Fixed", remotePort: 0))
        #expect(driver.core.hostName == "Fixed" && driver.core.settings.remotePort == 0)
        #expect(driver.core.overridden == ["name", "remotePort"])
        #expect(driver.set { $0.remotePort = 9_001 } == .refused(.overridden(field: "remotePort")))
        #expect(driver.set { $0.name = "Other" } == .refused(.overridden(field: "name")))
        driver.set { $0.maxFPS = 60 }
        #expect(driver.core.settings.maxFPS == 60 && driver.core.settings.remotePort == 0)
        #expect(driver.core.storedSettings.remotePort == 9_000)
    }

    @Test func twoSettingsChangesUnderWayKeepBoth() {
        let driver = Driver()
        driver.store = nil
        driver.set { $0.maxFPS = 60 }
        driver.set { $0.remoteAccess = true }
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.settings.maxFPS == 60 && driver.core.settings.remoteAccess)
    }

    /// What another has on its way may fail: the second is stored by itself, all of it and nothing else.
    @Test func aPatchOfWhatIsOnItsWayIsStoredToo() {
        let driver = Driver()
        driver.store = nil
        driver.set {
            $0.maxFPS = 60
            $0.requirePairing = false
            $0.direct = true
        }
        driver.set {
            $0.maxFPS = 60
            $0.requirePairing = false
            $0.remoteAccess = true
        }
        #expect(driver.outcomes.isEmpty && driver.waiting.count == 2)
        driver.input { [id = driver.waiting[0]] in $0.committed(id, .failed(message: "full"), $1) }
        driver.input { [id = driver.waiting[1]] in $0.committed(id, .committed, $1) }
        let wanted = Self.settings {
            $0.maxFPS = 60
            $0.requirePairing = false
            $0.remoteAccess = true
        }
        #expect(driver.outcomes == [.failed(message: "full"), .settings(wanted)])
        let details = driver.commits.flatMap(\.audit).filter { $0.action == "settings.change" }.map(\.detail)
        for (detail, own) in zip(details, ["direct", "remote access"]) {
            for word in [own, "frame rate limit 120 → 60", "require pairing on → off"] {
                #expect(detail?.contains(word) == true, "\(detail ?? "") without \(word)")
            }
        }
        #expect(details.count == 2 && details[1]?.contains("direct") == false)
    }

    /// Back to what is stored, behind a change that is on its way.
    @Test func aPatchThatTakesBackWhatIsOnItsWay() {
        let driver = Driver()
        driver.store = nil
        driver.set {
            $0.requirePairing = false
            $0.maxFPS = 60
        }
        driver.set {
            $0.requirePairing = true
            $0.maxFPS = 120
        }
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.settings == Settings() && driver.core.trust.requirePairing)
    }

    /// Both are stored, and one change is told once.
    @Test func twoPatchesOfOneThing() {
        let driver = Driver()
        driver.store = nil
        for _ in 0..<2 { driver.set { $0.maxFPS = 60 } }
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        let wanted = Self.settings { $0.maxFPS = 60 }
        #expect(driver.outcomes == [.settings(wanted), .settings(wanted)])
        #expect(
            driver.effects.filter { if case .event(.settingsChanged) = $0 { true } else { false } }.count == 1
        )
        #expect(driver.lines("settings").count == 1)
        let details = driver.commits.flatMap(\.audit).filter { $0.action == "settings.change" }.map(\.detail)
        #expect(details == ["frame rate limit 120 → 60", "frame rate limit 120 → 60"])
    }

    @Test func aPatchIsMadeFromTheLastOfThoseOnTheirWay() {
        let driver = Driver()
        driver.store = nil
        for rate in [60, 30, 60] { driver.set { $0.maxFPS = rate } }
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.settings.maxFPS == 60)
    }

    @Test func aPatchThatChangesNothingNeedsNoStore() {
        let driver = Driver()
        driver.set { _ in }
        #expect(driver.outcomes == [.settings(Settings())])
        #expect(driver.commits.isEmpty)
    }

    @Test func requirePairingGoesBesideTheValues() throws {
        let driver = Driver()
        driver.set {
            $0.requirePairing = false
            $0.maxFPS = 60
        }
        let commit = try #require(driver.commits.last)
        guard case .settings(let values, let requirePairing) = commit.change else {
            Issue.record("no settings")
            return
        }
        #expect(requirePairing == false && values == ["maxFPS": "60"])
        #expect(commit.audit[0].detail == "frame rate limit 120 → 60, require pairing on → off")
        #expect(!driver.core.trust.requirePairing)
    }

    @Test func goodbyesOfEachSwitch() {
        func reasons(_ change: (inout Settings) -> Void) -> [String] {
            let settings = Self.settings {
                $0.remoteAccess = true
                $0.internetAccess = true
                $0.requirePairing = false
                $0.direct = true
            }
            let driver = Driver(settings, devices: [Driver.record("D")])
            _ = driver.session(.home, "D", .lan(1))
            _ = driver.session(.home, "U", .lan(2))
            _ = driver.session(.home, "D", .direct)
            _ = driver.session(.remote, "D", .vpn)
            _ = driver.session(.remote, "D", .internet)
            driver.effects = []
            driver.set(change)
            return driver.goodbyes.map { "\($0.0.text) \($0.1)" }
        }
        #expect(reasons { $0.requirePairing = true } == ["s2 pairingRequired"])
        #expect(reasons { $0.remoteAccess = false } == ["s4 remoteOff", "s5 remoteOff"])
        #expect(reasons { $0.internetAccess = false } == ["s5 internetOff"])
        #expect(reasons { $0.direct = false } == ["s3 -"])
        #expect(reasons { $0.remotePort = 9_000 } == [])
        #expect(reasons { $0.name = "x" } == [])
        #expect(reasons { $0.minimumDeviceVersion = "1" }.count == 5)
    }

    @Test func stopSaysQuitToAll() {
        let driver = Driver(devices: [Driver.record("D")])
        _ = driver.session(.home, "D", .lan(1))
        _ = driver.session(.home, "D", .lan(2))
        let pending = driver.arrive(.home, .lan(3)).id
        driver.openWindow(remote: false)
        driver.effects = []
        driver.input { $0.stop($1) }
        #expect(driver.closedWindows == [.cancelled])
        #expect(driver.goodbyes.map(\.1) == ["quit", "quit"])
        #expect(driver.doorEffects == ["close home"])
        #expect(driver.closedConnections == [pending])
        #expect(driver.connect(.home, "D") == .refusedAtStart(.limit))
        #expect(driver.remove("D") == .refused(.stopping))
        #expect(driver.openWindow() == .alreadyOpen)
    }

    @Test func importsLeaveRemovedKeysAway() {
        let tombstone = Tombstone(
            fingerprint: Driver.key("R"), removedAt: WallTime(milliseconds: 0), removedBy: "unix:0")
        let driver = Driver(devices: [Driver.record("D")], tombstones: [tombstone])
        let records = [
            Driver.record("D", name: "old line"), Driver.record("N"), Driver.record("R"),
            Driver.record("D", name: "new name"),
        ]
        _ = driver.input { $0.propose(.importDevices(records, restoreRemoved: false), actor: admin, $1) }
        #expect(
            driver.outcomes == [.imported(imported: 1, updated: 1, removedSkipped: [Driver.key("R").id])])
        #expect(driver.core.device(Driver.key("D").id)?.name == "new name")
        #expect(driver.core.trust.isPaired(Driver.key("N")) && !driver.core.trust.isPaired(Driver.key("R")))
        driver.effects = []
        _ = driver.input { $0.propose(.importDevices(records, restoreRemoved: true), actor: admin, $1) }
        #expect(driver.outcomes == [.imported(imported: 1, updated: 2, removedSkipped: [])])
        #expect(driver.core.trust.isPaired(Driver.key("R")))
        #expect(driver.core.tombstone(Driver.key("R")) == nil)
    }

    /// A removal is true before an import that came after it, wherever the store is with it.
    @Test(arguments: [false, true]) func anImportBehindARemoval(restoring: Bool) {
        let driver = Driver(devices: [Driver.record("D")])
        driver.store = nil
        driver.remove("D")
        _ = driver.input {
            $0.propose(.importDevices([Driver.record("D")], restoreRemoved: restoring), actor: admin, $1)
        }
        for id in driver.waiting { driver.input { $0.committed(id, .committed, $1) } }
        #expect(driver.core.trust.isPaired(Driver.key("D")) == restoring)
        #expect((driver.core.tombstone(Driver.key("D")) == nil) == restoring)
        #expect(
            driver.outcomes.last
                == .imported(
                    imported: restoring ? 1 : 0, updated: 0,
                    removedSkipped: restoring ? [] : [Driver.key("D").id]))
    }

    /// A line names a known key anew, and leaves what the host knows of it.
    @Test func anImportOfAKnownKeyKeepsItsHistory() {
        var known = Driver.record("D")
        known.model = "iPad14,1"
        known.cableDevice = "9thvTr8MQMHWVzL83q51yQ"
        known.lastRoute = "on this network"
        let driver = Driver(devices: [known])
        var line = Driver.record("D", name: "Kitchen")
        line.pairedAt = WallTime(milliseconds: 0)
        line.pairedHow = "import"
        _ = driver.input { $0.propose(.importDevices([line], restoreRemoved: false), actor: admin, $1) }
        known.name = "Kitchen"
        #expect(driver.core.device(known.id) == known)
    }

    @Test func disconnectSaysEnded() {
        let driver = Driver(devices: [Driver.record("D")])
        let id = driver.session(.home, "D") ?? SessionID(text: "")
        driver.effects = []
        #expect(driver.input { $0.disconnect(id, message: " Bed\ntime ", actor: admin, $1) })
        #expect(driver.input { $0.disconnect(id, message: nil, actor: admin, $1) })
        #expect(driver.goodbyes.map(\.1) == ["ended"])
        #expect(driver.core.session(id)?.goodbye == .ended("Bed time"))
        driver.input { $0.sessionEnded(id, .goodbye, $1) }
        #expect(!driver.input { $0.disconnect(id, message: nil, actor: admin, $1) })
    }

    /// The relay's own `noHost`: counted, logged and told as if a rule had sent it, and once.
    @Test func aWorkersOwnGoodbyeIsKnown() {
        var settings = Settings()
        settings.remoteAccess = true
        settings.internetAccess = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        let id = driver.session(.remote, "D", .internet) ?? SessionID(text: "")
        #expect(driver.core.table.remoteCount == 1 && driver.core.table.presence.away == 1)
        driver.effects = []
        for _ in 0..<2 { driver.input { $0.sessionSaidGoodbye(id, .noHost("Gone."), $1) } }
        #expect(driver.core.session(id)?.goodbye == .noHost("Gone."))
        #expect(driver.core.counters.goodbyes == ["noHost": 1])
        #expect(driver.core.table.remoteCount == 0 && driver.core.table.presence.away == 0)
        #expect(driver.goodbyes.isEmpty, "the worker is not told what it said")
        let closing = driver.effects.compactMap {
            if case .event(.sessionClosing(let view, let goodbye)) = $0 { (view.id, goodbye) } else { nil }
        }
        #expect(closing.map(\.0) == [id] && closing.map(\.1) == [.noHost("Gone.")])
        #expect(driver.logs.map(\.message) == ["goodbye"])
        driver.effects = []
        driver.input { $0.sessionEnded(id, .backendFailed, $1) }
        let fields = Dictionary(uniqueKeysWithValues: driver.logs.first?.fields ?? [])
        #expect(fields["reason"] == "noHost" && fields["ended"] == "backendFailed")

        // A device that was removed first keeps the reason it was told.
        let other = driver.session(.remote, "D", .internet) ?? SessionID(text: "")
        #expect(driver.input { $0.disconnect(other, message: nil, actor: admin, $1) })
        driver.input { $0.sessionSaidGoodbye(other, .ended(nil), $1) }
        driver.input { $0.sessionSaidGoodbye(other, .noHost("Gone."), $1) }
        #expect(driver.core.counters.goodbyes == ["noHost": 1, "ended": 1])
    }

    @Test func seenAtMostOnceAMinute() {
        let driver = Driver(devices: [Driver.record("D")])
        func seen() -> Int {
            driver.commits.count { if case .deviceSeen = $0.change { true } else { false } }
        }
        for time in [0.0, 1, 59] {
            driver.wait(until: time)
            _ = driver.session(.home, "D")
        }
        #expect(seen() == 1)
        driver.wait(until: 60)
        _ = driver.session(.home, "D")
        #expect(seen() == 2)
        _ = driver.session(.home, "D", .host)
        #expect(seen() == 3)
        #expect(driver.core.device(Driver.key("D").id)?.lastRoute == "on this host")
    }
}
