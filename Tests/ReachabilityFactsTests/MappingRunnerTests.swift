// SPDX-License-Identifier: Apache-2.0

import Policy
import RouterProbe
import Sockets
import Synchronization
import Testing
import Wire

@testable import ReachabilityFacts

/// What is asked of the router, and who hears of it, with a router that does as the test says.
@Suite("Looking after a mapping")
struct MappingRunnerTests {
    /// A router, a clock and ears.
    private final class World: Sendable {
        struct State {
            var asked: [String] = []
            var outcome: MappingOutcome?
            var unmapping = UnmappingOutcome.removed
            var told: [MappingRunner.Standing] = []
        }

        let state = Mutex(State())
        let heard: WakeUp
        let runner: MappingRunner

        init() throws {
            let heard = try WakeUp()
            let world = Shared()
            self.heard = heard
            runner = try MappingRunner(
                MappingRunner.Operations(
                    map: { wish, _ in world.value?.map(wish) ?? .pending },
                    unmap: { grant, _ in world.value?.unmap(grant) ?? .pending },
                    openPinhole: { wish, _ in
                        world.value?.note("open \(wish.address)")
                        return .open(PinholeGrant(wish: wish, id: "7", lease: 3600, isWorking: true))
                    },
                    renewPinhole: { grant, _ in .open(grant) },
                    closePinhole: { grant, _ in
                        world.value?.note("close \(grant.id)")
                        return .removed
                    }),
                link: {
                    LANLink(lan: MappingRunnerTests.lan, prefixBits: 24, interface: "eth0", interfaceIndex: 2)
                },
                told: { standing in world.value?.hear(standing) })
            world.set(self)
            try runner.start()
        }

        final class Shared: Sendable {
            private let held = Mutex<World?>(nil)
            var value: World? { held.withLock { $0 } }
            func set(_ world: World) { held.withLock { $0 = world } }
            func clear() { held.withLock { $0 = nil } }
        }

        func note(_ what: String) { state.withLock { $0.asked.append(what) } }

        func map(_ wish: MappingWish) -> MappingOutcome {
            note("map \(wish.outsidePort)")
            let fixed = state.withLock { $0.outcome }
            return fixed ?? .active(MappingGrant(wish: wish, way: .upnp, lease: 3600, isSeen: true))
        }

        func unmap(_ grant: MappingGrant) -> UnmappingOutcome {
            note("unmap \(grant.wish.outsidePort)")
            return state.withLock { $0.unmapping }
        }

        func hear(_ standing: MappingRunner.Standing) {
            state.withLock { $0.told.append(standing) }
            heard.signal()
        }

        var asked: [String] { state.withLock { $0.asked } }
        var told: [MappingRunner.Standing] { state.withLock { $0.told } }

        /// Waits until what was told last is so.
        func waits(until isSo: (MappingRunner.Standing?) -> Bool) -> Bool {
            let end = monotonicNow() + .seconds(60)
            while !isSo(told.last) {
                guard heard.wait(until: end) else { return false }
                heard.clear()
            }
            return true
        }

        /// Asks by name and waits for the answer.
        func request() throws -> MappingRunner.Standing { try answer { runner.request($0) } }
        func release() throws -> MappingRunner.Standing { try answer { runner.release($0) } }

        private func answer(
            _ ask: (@escaping @Sendable (MappingRunner.Standing) -> Void) -> Void
        ) throws -> MappingRunner.Standing {
            let answered = try WakeUp()
            let answer = Answer()
            ask {
                answer.set($0)
                answered.signal()
            }
            #expect(answered.wait(until: monotonicNow() + .seconds(60)))
            return try #require(answer.value)
        }

        final class Answer: Sendable {
            private let held = Mutex<MappingRunner.Standing?>(nil)
            var value: MappingRunner.Standing? { held.withLock { $0 } }
            func set(_ standing: MappingRunner.Standing) { held.withLock { $0 = standing } }
        }
    }

    static let lan = IPAddress(v4: 0xC0A8_0105)
    static let gateway = IPAddress(v4: 0xC0A8_0101)

    private static func situation(
        _ change: (inout MappingKeeper.Situation) -> Void = { _ in }
    ) -> MappingKeeper.Situation {
        var situation = MappingKeeper.Situation()
        situation.isAllowed = true
        situation.router = .publicUnmapped
        situation.mapping = .none
        situation.gateway = gateway
        situation.lan = lan
        change(&situation)
        return situation
    }

    private static func isActive(_ standing: MappingRunner.Standing?) -> Bool {
        if case .active = standing?.mapping { true } else { false }
    }

    @Test func nothingIsAskedThatNobodyWants() throws {
        let world = try World()
        world.runner.update(Self.situation())
        #expect(try world.release().mapping == nil)
        world.runner.stop(within: .seconds(60))
        #expect(world.asked.isEmpty)
    }

    @Test func theSettingMapsAndItsEndUnmaps() throws {
        let world = try World()
        world.runner.update(Self.situation { $0.wantsMapping = true })
        #expect(world.waits { Self.isActive($0) })
        #expect(world.told.last?.isNewlyGranted == false && world.told.last?.mappingExpires != nil)
        world.runner.update(Self.situation())
        #expect(world.waits { $0?.mapping == nil })
        #expect(world.asked == ["map 7455", "unmap 7455"])
        world.runner.stop(within: .seconds(60))
    }

    @Test func stoppingTakesItAway() throws {
        let world = try World()
        world.runner.update(
            Self.situation {
                $0.wantsMapping = true
                $0.wantsPinhole = true
                $0.ipv6 = .v6PinholePossible
                $0.stableIPv6 = IPAddress("2001:db8::20")
            })
        #expect(world.waits { Self.isActive($0) && $0?.pinhole != nil })
        world.runner.stop(within: .seconds(60))
        #expect(world.asked == ["map 7455", "open 2001:db8::20", "unmap 7455", "close 7"])
    }

    @Test func aRequestByNameIsAnsweredAndKept() throws {
        let world = try World()
        world.runner.update(Self.situation())
        #expect(Self.isActive(try world.request()))
        // Whoever waited sees to the setting.
        #expect(!world.told.contains { $0.isNewlyGranted })
        world.runner.update(Self.situation { $0.wantsMapping = true })
        #expect(Self.isActive(try world.request()))
        #expect(world.asked == ["map 7455"])
        // The setting's end is the request's too.
        world.runner.update(Self.situation())
        #expect(world.waits { $0?.mapping == nil })
        world.runner.stop(within: .seconds(60))
        #expect(world.asked == ["map 7455", "unmap 7455"])
    }

    @Test(arguments: [
        MappingOutcome.refused("no room"), .conflict("192.168.1.9:80"), .portDiffers(8000), .permanentOnly,
        .toThisHost,
    ])
    func whatBringsNothingIsForgotten(_ outcome: MappingOutcome) throws {
        let world = try World()
        world.state.withLock { $0.outcome = outcome }
        world.runner.update(Self.situation())
        #expect(try world.request().mapping == outcome)
        // Asked again by name, the router is asked again.
        #expect(try world.request().mapping == outcome)
        world.runner.update(Self.situation { $0.outsidePort = 8000 })
        #expect(try world.release().mapping == nil)
        world.runner.stop(within: .seconds(60))
        #expect(world.asked == ["map 7455", "map 7455"])
    }

    @Test func noneByNameWhileInternetAccessIsOff() throws {
        let world = try World()
        world.runner.update(Self.situation { $0.isAllowed = false })
        #expect(try world.request().mapping == nil)
        world.runner.update(Self.situation())
        #expect(try world.release().mapping == nil)
        world.runner.stop(within: .seconds(60))
        #expect(world.asked.isEmpty)
    }

    @Test func internetAccessOffEndsARequest() throws {
        let world = try World()
        world.runner.update(Self.situation())
        _ = try world.request()
        world.runner.update(Self.situation { $0.isAllowed = false })
        #expect(world.waits { $0?.mapping == nil })
        world.runner.stop(within: .seconds(60))
        #expect(world.asked == ["map 7455", "unmap 7455"])
    }

    @Test func aRouterThatWouldNotIsLeftToItsLease() throws {
        let world = try World()
        world.state.withLock { $0.unmapping = .refused("no") }
        world.runner.update(Self.situation())
        _ = try world.request()
        #expect(try world.release().mapping == nil)
        world.runner.stop(within: .seconds(60))
        #expect(world.asked == ["map 7455", "unmap 7455"])
    }
}
