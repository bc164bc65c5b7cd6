// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// When the networks are watched, when addresses are known, and which reports are news (05 A1, A5, 09.36, 09.40).
@Suite("Reachability in the core")
struct ReachabilityTests {
    /// What the shell was told to watch, in order.
    private func watches(_ driver: Driver) -> [ReachabilityWanted] {
        driver.effects.compactMap { if case .watchReachability(let wanted) = $0 { wanted } else { nil } }
    }

    private func reports(_ driver: Driver) -> [OverallCode] {
        driver.effects.compactMap {
            if case .event(.reachabilityChanged(let made)) = $0 { made.report.verdict } else { nil }
        }
    }

    private func isReady(_ driver: Driver) -> Bool {
        driver.effects.contains { if case .windowReady = $0 { true } else { false } }
    }

    private static func evidence(_ body: (inout ReachabilityEvidence) -> Void = { _ in })
        -> ReachabilityEvidence
    {
        var evidence = ReachabilityEvidence()
        evidence.table = Driver.table
        body(&evidence)
        return evidence
    }

    @Test func watchedExactlyWhileTheRemoteDoorIsFor() {
        let driver = Driver()
        #expect(watches(driver).isEmpty)
        driver.openWindow(remote: false)
        #expect(watches(driver).isEmpty)
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        driver.openWindow(remote: true)
        #expect(watches(driver).map(\.watches) == [true])
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        #expect(watches(driver).map(\.watches) == [true, false])
        driver.set { $0.remoteAccess = true }
        driver.set { $0.internetAccess = true }
        driver.set { $0.addressName = "home.example.net" }
        driver.set { $0.stunServer = "stun.example.net:3478" }
        driver.set { $0.maxFPS = 60 }
        driver.set { $0.remotePort = 8000 }
        #expect(watches(driver).count == 7)
        #expect(watches(driver).map(\.asksRouter) == [false, false, false, true, true, true, true])
        #expect(
            watches(driver).last?.port == 8000 && watches(driver).last?.stunServer == "stun.example.net:3478")
        driver.set { $0.remoteAccess = false }
        #expect(watches(driver).last?.watches == false && watches(driver).last?.asksRouter == false)
    }

    /// A window alone never has the router asked, whatever the internet switch is (05 A9).
    @Test func aWindowAsksNoRouter() {
        var settings = Settings()
        settings.internetAccess = true
        let driver = Driver(settings)
        driver.openWindow(remote: true)
        #expect(watches(driver).map(\.asksRouter) == [false])
    }

    @Test func stoppingEndsTheWatch() {
        let driver = Driver()
        driver.set { $0.remoteAccess = true }
        driver.input { $0.stop($1) }
        #expect(watches(driver).map(\.watches) == [true, false])
    }

    @Test func addressesComeWithTheFirstLookOfEachWatch() {
        let driver = Driver()
        driver.set { $0.remoteAccess = true }
        #expect(driver.core.hostInfo.addresses.count == 3)
        driver.set { $0.remoteAccess = false }
        driver.networks = nil
        driver.set { $0.remoteAccess = true }
        #expect(driver.core.hostInfo.addresses.isEmpty)
        driver.networks = Driver.table
        driver.look()
        #expect(driver.core.hostInfo.addresses.count == 3)
        // An interface that came is listed when the look at it is done, not before.
        driver.input { $0.interfacesChanged(InterfaceTable([]), $1) }
        #expect(driver.core.hostInfo.addresses.count == 3)
    }

    /// A look that somebody asked for while nothing is watched is no look of the next watch.
    @Test func aLookWhileOffCountsForNothing() {
        let driver = Driver()
        driver.look()
        #expect(driver.core.reachabilityReport?.report.verdict == .remoteOff)
        driver.networks = nil
        driver.set { $0.remoteAccess = true }
        #expect(driver.core.hostInfo.addresses.isEmpty)
    }

    @Test func aWindowsLinkWaitsForTheLook() {
        let driver = Driver()
        driver.networks = nil
        driver.openWindow(remote: true)
        #expect(!isReady(driver))
        driver.networks = Driver.table
        driver.look()
        driver.settle()
        #expect(isReady(driver))
        #expect(driver.core.window(driver.moment)?.link.addresses.count == 3)
    }

    @Test func theLinkGoesWithoutAddressesAfterThreeSeconds() {
        let driver = Driver()
        driver.networks = nil
        driver.openWindow(remote: true)
        driver.wait(until: 3)
        #expect(isReady(driver))
        #expect(driver.core.window(driver.moment)?.link.addresses.isEmpty == true)
    }

    @Test func onlyNewsIsTold() {
        let driver = Driver()
        driver.set { $0.remoteAccess = true }
        #expect(reports(driver) == [.awayVPN])
        driver.now = 1
        driver.look()
        #expect(reports(driver).count == 1)
        #expect(driver.core.reachabilityReport?.at == driver.moment.wall)
        driver.now = 2
        driver.set { $0.maxFPS = 60 }
        #expect(reports(driver).count == 1)
        #expect(driver.core.reachabilityReport?.at.milliseconds == Driver.start + 1000)
        driver.input { $0.reachabilityRead(Self.evidence { $0.firewall = .drops }, $1) }
        driver.input { $0.doorState(.remote, .portInUse(port: 7455), $1) }
        driver.set { $0.remoteAccess = false }
        #expect(reports(driver) == [.awayVPN, .firewallDrops, .doorPortInUse, .remoteOff])
        #expect(driver.core.status(driver.moment).reachability?.verdict == .remoteOff)
    }

    /// Shields Up takes Tailscale's addresses out of kind 18, and the router's address goes in with the internet switch.
    @Test func kind18SaysWhatTheFactsSay() {
        let driver = Driver()
        driver.set { $0.remoteAccess = true }
        var tailscale = TailscaleEvidence(backendState: "Running")
        tailscale.hasShieldsUp = true
        var vpn = VPNEvidence(product: .tailscale, interface: "tailscale0")
        vpn.tailscale = tailscale
        var router = RouterEvidence()
        router.natpmp = .answered(Driver.ip("203.0.113.9"))
        router.isFinished = true
        let evidence = Self.evidence {
            $0.vpns = [vpn]
            $0.router = router
        }
        // No other look ends from here on.
        driver.networks = nil
        driver.input { $0.reachabilityRead(evidence, $1) }
        #expect(driver.core.hostInfo.addresses.map(\.host) == ["10.99.0.2", "192.168.1.20"])
        driver.set { $0.internetAccess = true }
        #expect(driver.core.hostInfo.addresses.map(\.host) == ["10.99.0.2", "192.168.1.20", "203.0.113.9"])
        // The report lists just what devices are given.
        #expect(driver.core.reachabilityReport?.report.addresses == driver.core.hostInfo.addresses)
    }
}

/// What is asked of the router, and when (05 B8).
@Suite("Port mapping in the core")
struct MappingTests {
    private func situations(_ driver: Driver) -> [MappingKeeper.Situation] {
        driver.effects.compactMap { if case .lookAfterMapping(let situation) = $0 { situation } else { nil } }
    }

    private static let evidence: ReachabilityEvidence = {
        var router = RouterEvidence()
        router.gateway = Driver.ip("192.168.1.1")
        router.natpmp = .answered(Driver.ip("203.0.113.9"))
        var igd = IGDEvidence(host: Driver.ip("192.168.1.1"), isGateway: true)
        igd.status = .connected
        igd.mapping = .none
        router.igd = igd
        router.isFinished = true
        var evidence = ReachabilityEvidence()
        evidence.table = Driver.table
        evidence.router = router
        return evidence
    }()

    @Test func wantedExactlyWhileAllSwitchesAreOn() throws {
        let driver = Driver()
        #expect(situations(driver).allSatisfy { !$0.isAllowed && !$0.wantsMapping })
        driver.set { $0.portMapping = "upnp" }
        driver.set { $0.ipv6Pinhole = true }
        driver.set { $0.remoteAccess = true }
        #expect(situations(driver).allSatisfy { !$0.isAllowed && !$0.wantsMapping && !$0.wantsPinhole })
        driver.set { $0.internetAccess = true }
        driver.input { $0.reachabilityRead(Self.evidence, $1) }
        let on = try #require(situations(driver).last)
        #expect(on.isAllowed && on.wantsMapping && on.wantsPinhole && !on.allowsPermanent)
        #expect(on.router == .publicUnmapped && on.gateway == Driver.ip("192.168.1.1"))
        #expect(on.lan == Driver.ip("192.168.1.20") && on.outsidePort == 7455 && on.insidePort == 7455)
        driver.set { $0.permanentMappings = true }
        driver.set { $0.addressName = "home.example.net:17455" }
        #expect(
            situations(driver).last?.allowsPermanent == true && situations(driver).last?.outsidePort == 17455)
        let count = situations(driver).count
        driver.set { $0.maxFPS = 60 }
        #expect(situations(driver).count == count)
        driver.set { $0.internetAccess = false }
        #expect(situations(driver).last.map { $0.isAllowed || $0.wantsMapping || $0.wantsPinhole } == false)
        driver.set { $0.internetAccess = true }
        driver.input { $0.stop($1) }
        #expect(situations(driver).last.map { $0.isAllowed || $0.wantsMapping || $0.wantsPinhole } == false)
    }

    @Test func obstacles() {
        let driver = Driver()
        func code() -> String? { driver.core.mappingObstacle?.code }
        #expect(code() == "mappingNotPossible")
        driver.set { $0.remoteAccess = true }
        #expect(code() == "mappingNotPossible")
        driver.networks = nil
        driver.set { $0.internetAccess = true }
        driver.input { $0.reachabilityRead(Self.evidence, $1) }
        #expect(code() == nil)
        // What the router allows is not what the owner does.
        driver.set { $0.internetAccess = false }
        #expect(code() == "mappingNotPossible")
        driver.set { $0.internetAccess = true }
        #expect(code() == nil)
        var other = Self.evidence
        other.router?.igd?.mapping = .entry(
            MappingEntry(
                client: Driver.ip("192.168.1.9"), port: 7455, isEnabled: true, description: "x", lease: 0))
        driver.input { $0.reachabilityRead(other, $1) }
        #expect(driver.core.mappingObstacle == .conflict("192.168.1.9:7455"))
        other.router?.natpmp = .answered(Driver.ip("100.72.14.3"))
        driver.input { $0.reachabilityRead(other, $1) }
        #expect(code() == "mappingNotPossible")
    }

    /// The router is asked again when the mapping is made and when it is gone, and for nothing else that is said of it.
    @Test func aMappingHasTheRouterAskedAgain() {
        let driver = Driver()
        func asks(_ code: String?, until seconds: Int64 = 3600) -> Int {
            driver.effects = []
            var requests = RouterRequests()
            requests.mapping = code.map {
                RouterRequests.Standing(
                    code: $0, expiresAt: WallTime(milliseconds: Driver.start + seconds * 1000))
            }
            driver.input { $0.routerRequests(requests, $1) }
            return driver.effects.count { if case .askRouterAgain = $0 { true } else { false } }
        }
        #expect(asks("mappingPending") == 0)
        #expect(asks("mappingActive") == 1)
        #expect(asks("mappingActive", until: 7200) == 0, "a renewal")
        #expect(asks("mappingConflict") == 1)
        #expect(asks("mappingRefused") == 0)
        #expect(asks("mappingActive") == 1)
        #expect(asks(nil) == 1)
    }

    @Test func howItStandsIsNewsOnceAndInTheReport() {
        let driver = Driver()
        driver.set { $0.remoteAccess = true }
        driver.effects = []
        func news() -> Int {
            driver.effects.count { if case .event(.reachabilityChanged) = $0 { true } else { false } }
        }
        var requests = RouterRequests()
        requests.mapping = RouterRequests.Standing(
            code: "mappingActive", expiresAt: WallTime(milliseconds: Driver.start + 3_600_000))
        driver.input { $0.routerRequests(requests, $1) }
        #expect(driver.core.reachabilityReport?.report.requests == requests && news() == 1)
        requests.mapping?.expiresAt = WallTime(milliseconds: Driver.start + 7_200_000)
        driver.input { $0.routerRequests(requests, $1) }
        #expect(driver.core.reachabilityReport?.report.requests == requests && news() == 1)
        #expect(driver.logs.count { $0.message == "port mapping" } == 1)
    }
}
