// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// Every combination there is, against the rules written a second way, and the properties of 03 §17.
struct DoorPolicyPropertyTests {
    struct Case: Sendable, Equatable {
        var door: Door
        var origin: Origin
        var alpn: String?
        var hasKey: Bool
        var isPaired: Bool
        var wasPaired: Bool
        var hasRoom: Bool
        var switches: DoorPolicy.Switches

        var verify: Bool {
            DoorPolicy.verify(door: door, alpn: alpn, hasKey: hasKey, isPaired: isPaired, switches)
        }
        var ready: DoorPolicy.Ready {
            DoorPolicy.ready(
                door: door, alpn: alpn, hasKey: hasKey, isPaired: isPaired, hasRoom: hasRoom, switches)
        }
        var afterGate: Goodbye? {
            DoorPolicy.afterGate(
                door: door, origin: origin, hasKey: hasKey, isPaired: isPaired, wasPaired: wasPaired,
                hasRoom: hasRoom, switches)
        }
        var admits: Bool { DoorPolicy.admits(door, origin, internet: switches.effectiveInternet) }
    }

    static let all: [Case] = {
        var cases: [Case] = []
        for bits in 0..<256 {
            func bit(_ n: Int) -> Bool { bits >> n & 1 == 1 }
            let switches = DoorPolicy.Switches(
                requirePairing: bit(0), remoteAccess: bit(1), effectiveInternet: bit(1) && bit(2),
                remotePairingOpen: bit(3))
            if bit(2) && !bit(1) { continue }
            for door in Door.allCases {
                for origin in Origin.allCases {
                    for alpn in [nil, "", "h2", "sill/1", "sill-pair/1"] {
                        cases.append(
                            Case(
                                door: door, origin: origin, alpn: alpn, hasKey: bit(4), isPaired: bit(5),
                                wasPaired: bit(6), hasRoom: bit(7), switches: switches))
                    }
                }
            }
        }
        return cases
    }()

    /// The tables of 03 §5.2 and §5.3 as sets of conditions that must all hold, instead of rows in order.
    @Test func everyCombinationAgainstTheTablesReadAnotherWay() {
        #expect(Self.all.count > 5_000)
        var wrong: [Case] = []
        for this in Self.all {
            let isSession = this.alpn == "sill/1"
            let isPairing = this.alpn == "sill-pair/1"
            let home = this.door == .home
            let s = this.switches
            let verifies =
                this.hasKey
                && ((isSession && (this.isPaired || (home && !s.requirePairing)))
                    || (isPairing && (home || s.remotePairingOpen)))
            if this.verify != verifies { wrong.append(this) }

            let mayBeTold = this.hasKey && isSession && !home && this.isPaired
            let expected: DoorPolicy.Ready =
                if !verifies {
                    .refuse
                } else if isPairing {
                    .pairing
                } else if mayBeTold && !s.remoteAccess {
                    .goodbye(.remoteOff)
                } else if mayBeTold && !this.hasRoom {
                    .goodbye(.busy)
                } else {
                    .session
                }
            if this.ready != expected { wrong.append(this) }

            let reasons: [(Bool, Goodbye)] =
                home
                ? [
                    (!(this.hasKey && this.isPaired) && this.wasPaired, .removed),
                    (!(this.hasKey && this.isPaired) && (s.requirePairing || !this.hasKey), .pairingRequired),
                ]
                : [
                    (!(this.hasKey && this.isPaired), .removed), (!s.remoteAccess, .remoteOff),
                    (
                        this.origin == .direct || (this.origin == .internet && !s.effectiveInternet),
                        .internetOff
                    ), (!this.hasRoom, .busy),
                ]
            if this.afterGate != reasons.first(where: { $0.0 })?.1 { wrong.append(this) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func property1VerifyNoMeansReadyNo() {
        #expect(Self.all.first { !$0.verify && $0.ready != .refuse } == nil)
    }

    @Test func property2NoKeyMeansNothing() {
        #expect(
            Self.all.first {
                !$0.hasKey && ($0.verify || $0.ready != .refuse || $0.afterGate == nil)
            } == nil)
    }

    @Test func property3RemoteUnpairedNeverASession() {
        #expect(
            Self.all.first {
                $0.door == .remote && !$0.isPaired && ($0.ready == .session || $0.afterGate == nil)
            } == nil)
    }

    /// With the same inputs: a key paired at ready is paired now, and the origin is admitted.
    @Test func property4ReadySessionIsAdmittedAfterTheGate() {
        #expect(
            Self.all.first {
                $0.ready == .session && $0.admits && $0.wasPaired == $0.isPaired && $0.afterGate != nil
            } == nil)
    }

    @Test func property5TakingASwitchAwayNeverAdmits() {
        func rank(_ ready: DoorPolicy.Ready) -> Int {
            switch ready {
            case .refuse: 0
            case .goodbye: 1
            case .session, .pairing: 2
            }
        }
        var widened: [Case] = []
        for this in Self.all {
            var less: [DoorPolicy.Switches] = []
            var s = this.switches
            s.effectiveInternet = false
            less.append(s)
            s.remoteAccess = false
            less.append(s)
            s = this.switches
            s.requirePairing = true
            less.append(s)
            for switches in less {
                var other = this
                other.switches = switches
                let isNarrower =
                    rank(other.ready) <= rank(this.ready) && (!other.verify || this.verify)
                    && (!other.admits || this.admits) && (other.afterGate != nil || this.afterGate == nil)
                if !isNarrower { widened.append(other) }
            }
        }
        #expect(widened.isEmpty)
    }
}
