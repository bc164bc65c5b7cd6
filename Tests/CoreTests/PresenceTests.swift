// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Policy
import Testing
import Wire

@testable import Core

/// 06 A3: every order in which devices at home and away come, leave, are told to go and crash, relayed and held by a
/// streaming process; the flag and what is told of it, against the rule kept in the plainest way.
@Suite struct PresenceTests {
    enum Device: String, CaseIterable {
        case homeRelayed, awayRelayed, homeDelegated, awayDelegated

        var isAway: Bool { self == .awayRelayed || self == .awayDelegated }
        var isDelegated: Bool { self == .homeDelegated || self == .awayDelegated }
    }

    enum Step: String, CaseIterable {
        case comes, leaves, toldToGo, ends
        /// The connection breaks; of a delegated one, its process begins anew.
        case crashes
        /// Its process does not end it in time.
        case abandoned
    }

    /// Who is there, in the order they came.
    struct Model {
        var there: [(device: Device, id: SessionID)] = []
        var closing: Set<Device> = []
        var isAway = false
        /// Every value the flag took.
        var flips: [Bool] = []

        var connected: [Device] { there.map(\.device).filter { !closing.contains($0) } }

        func id(_ device: Device) -> SessionID? { there.first { $0.device == device }?.id }

        mutating func remove(_ device: Device) {
            there.removeAll { $0.device == device }
            closing.remove(device)
            look()
        }

        mutating func look() {
            guard !connected.isEmpty else { return }
            let wanted = !connected.contains { !$0.isAway }
            if wanted != isAway { flips.append(wanted) }
            isAway = wanted
        }
    }

    /// Does a step on both sides; false when there is no such step now.
    private static func perform(
        _ step: Step, _ device: Device, _ driver: Driver, _ model: inout Model
    ) -> Bool {
        let isClosing = model.closing.contains(device)
        guard let id = model.id(device) else {
            guard step == .comes else { return false }
            let door: Door = device.isAway ? .remote : .home
            let from: Driver.From = device.isAway ? (device.isDelegated ? .internet : .vpn) : .lan
            let id =
                device.isDelegated
                ? driver.delegatedSession(door, device.rawValue, from, port: 50_000)
                : driver.session(door, device.rawValue, from)
            guard let id else { return false }
            model.there.append((device, id))
            model.look()
            return true
        }
        switch step {
        case .comes: return false
        case .leaves, .ends:
            guard isClosing == (step == .ends) else { return false }
            if device.isDelegated {
                _ = driver.input { $0.deleteSession(id, $1) }
            } else {
                driver.input { $0.sessionEnded(id, isClosing ? .goodbye : .peerClosed, $1) }
            }
            model.remove(device)
        case .toldToGo:
            guard !isClosing else { return false }
            _ = driver.input { $0.disconnect(id, message: nil, actor: Actor(text: "unix:0"), $1) }
            model.closing.insert(device)
            model.look()
        case .crashes:
            if device.isDelegated {
                _ = driver.input { $0.deleteDelegatedSessions($1) }
                for other in model.there.map(\.device) where other.isDelegated { model.remove(other) }
            } else {
                driver.input { $0.sessionEnded(id, .peerReset, $1) }
                model.remove(device)
            }
        case .abandoned:
            guard isClosing, device.isDelegated else { return false }
            driver.wait(until: driver.now + 10)
            // Those that were told to go before it are late too.
            for other in model.there.map(\.device) where other.isDelegated && model.closing.contains(other) {
                model.remove(other)
            }
        }
        return true
    }

    private static func explore(_ driver: Driver, _ model: Model, _ path: [String], _ seen: inout Int) {
        guard path.count < 5 else { return }
        let (core, now) = (driver.core, driver.now)
        for device in Device.allCases {
            for step in Step.allCases {
                var next = model
                next.flips = []
                driver.effects = []
                guard perform(step, device, driver, &next) else { continue }
                seen += 1
                let path = path + ["\(device) \(step)"]
                let report = driver.core.qualityReport
                let home = next.connected.count { !$0.isAway }
                let agrees =
                    driver.core.quality.runsAway == next.isAway
                    && report.presence == Presence(away: next.connected.count - home, home: home)
                    && report.sessions?.map(\.session) == next.connected.compactMap { next.id($0) }
                    && report.sessions?.allSatisfy { $0.quality.awayRunning == next.isAway } == true
                    && driver.reports.map(\.quality.runsAway) == next.flips
                    && driver.lines("quality").map { $0["runs"] == "away" } == next.flips
                if !agrees { Issue.record("\(path)") }
                explore(driver, next, path, &seen)
                (driver.core, driver.now) = (core, now)
            }
        }
    }

    @Test func everyOrder() {
        var settings = Settings()
        settings.remoteAccess = true
        settings.internetAccess = true
        let driver = Driver(settings, devices: Device.allCases.map { Driver.record($0.rawValue) })
        #expect(!driver.core.quality.runsAway)
        var seen = 0
        Self.explore(driver, Model(), [], &seen)
        #expect(seen > 5_000)
    }
}
