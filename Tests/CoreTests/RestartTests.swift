// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// 09.5: what holds people back outlives a restart, and no longer than its rule.
struct RestartTests {
    /// What the store would hold now.
    func stored(_ driver: Driver) -> [Lockout] {
        var rows: [String: Lockout] = [:]
        for commit in driver.commits {
            guard case .lockouts(let lockouts, let now) = commit.change else { continue }
            for lockout in lockouts { rows["\(lockout.kind.rawValue) \(lockout.key)"] = lockout }
            rows = rows.filter { now < $0.value.until }
        }
        return rows.values.sorted { ($0.kind.rawValue, $0.key) < ($1.kind.rawValue, $1.key) }
    }

    /// The next run, `gap` seconds later by the wall clock; its monotonic clock begins at zero.
    func restarted(_ lockouts: [Lockout], clock: Double) -> Driver {
        let driver = Driver()
        driver.core.logind = .unlocked
        let wall = WallTime(milliseconds: Driver.start + Int64(clock * 1000))
        driver.core.restore(lockouts, Moment(now: .seconds(0), wall: wall))
        return driver
    }

    @Test(arguments: [
        (150.0, 149.0, true), (150, 150, false), (-1e6, 299.0, true), (-1e6, 300, false), (1e6, 0, false),
    ])
    func aBackoffGoesOn(_ clock: Double, _ later: Double, _ isBlocked: Bool) {
        let before = Driver()
        for _ in 0..<5 { _ = before.connect(.home, "U") }
        #expect(stored(before).map(\.kind) == [.homeBackoff])
        let after = restarted(stored(before), clock: clock)
        after.wait(until: later)
        let expected: StartVerdict = isBlocked ? .refuse(.limit) : .proceed(.lan)
        #expect(after.arrive(.home).verdict == expected)
        #expect(after.arrive(.remote).verdict == .proceed(.lan))
    }

    @Test func eachDoorHasItsOwn() {
        var settings = Settings()
        settings.remoteAccess = true
        let before = Driver(settings)
        for _ in 0..<5 { _ = before.connect(.remote, "U") }
        #expect(stored(before).map(\.kind) == [.remoteBackoff])
        let after = restarted(stored(before), clock: 0)
        #expect(after.arrive(.remote).verdict == .refuse(.limit))
        #expect(after.arrive(.home).verdict == .proceed(.lan))
    }

    @Test func quietTimesAndAskedWindowsGoOn() {
        let before = Driver()
        before.core.logind = .unlocked
        #expect(before.ask("K", .lan(50))?.reason == "shown")
        _ = before.input { $0.closeWindow(actor: .service, $1) }
        #expect(stored(before).map(\.kind) == [.quietKey, .quietSource, .askedWindow])
        let after = restarted(stored(before), clock: 100)
        after.wait(until: 499.9)
        #expect(after.ask("K", .lan(51))?.reason == "openOnMac")
        #expect(after.ask("M", .lan(50))?.reason == "openOnMac")
        #expect(after.core.askLimits.recentWindows(at: after.moment.now) == 1)
        after.wait(until: 500)
        #expect(after.ask("K", .lan(50))?.reason == "shown")
    }

    @Test func whatIsForgottenDoesNotComeBack() {
        let driver = Driver()
        driver.core.logind = .unlocked
        _ = driver.ask("K")
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        driver.input { $0.forgetQuiet(actor: .service, $1) }
        #expect(stored(driver).isEmpty)
    }

    /// 09.32b, each with what is left in the store.
    @Test(arguments: [
        (Core.Lockouts.all, [Lockout.Kind]()),
        (.source(Driver.ip("192.168.1.23")), [.quietKey]),
        (.source(Driver.ip("192.168.1.99")), [.homeBackoff, .quietKey, .quietSource, .askedWindow]),
        (.device(Driver.key("K").id), [.homeBackoff, .quietSource]),
    ])
    func anAdminLetsGo(_ which: Core.Lockouts, _ left: [Lockout.Kind]) {
        let driver = Driver()
        driver.core.logind = .unlocked
        _ = driver.ask("K")
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        for _ in 0..<5 { _ = driver.connect(.home, "U") }
        driver.openWindow()
        driver.input { $0.forgetLockouts(which, actor: .service, $1) }
        #expect(stored(driver).map(\.kind) == left)
        let isHeld = left.contains(.homeBackoff)
        #expect((driver.arrive(.home).verdict == .refuse(.limit)) == isHeld)
        // Never a running window.
        #expect(driver.core.window(driver.moment) != nil)
    }

    @Test func aPairedKeyAcceptedBeforeEndsTheBackoff() {
        let driver = Driver(devices: [Driver.record("D")])
        let (id, _) = driver.arrive(.home)
        for _ in 0..<5 { _ = driver.connect(.home, "U") }
        #expect(stored(driver).count == 1)
        let verdict = driver.input {
            $0.connectionReady(id, alpn: ALPN.session.rawValue, key: Driver.key("D"), $1)
        }
        #expect(verdict == .session(floor: nil))
        #expect(stored(driver).isEmpty)
    }
}
