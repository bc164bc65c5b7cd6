// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// `POST /v1/admissions` (03 §6): the same answers as the service's own doors.
struct AdmissionTests {
    static func remote(internet: Bool = false) -> Settings {
        var settings = Settings()
        settings.remoteAccess = true
        settings.internetAccess = internet
        return settings
    }

    static func query(
        _ door: Door, _ word: String?, alpn: String? = "sill/1", remote: String = "192.168.1.23:50000",
        local: String? = "192.168.1.20:7455", interface: String? = nil, beforeTLS: Bool = false
    ) -> AdmissionQuery {
        guard let address = SocketAddress(remote) else { preconditionFailure("\(remote) is no address") }
        return AdmissionQuery(
            door: door, remote: address, local: local.flatMap { SocketAddress($0) }, interface: interface,
            handshake: beforeTLS
                ? nil
                : AdmissionQuery.Handshake(alpn: alpn, fingerprint: word.map { Driver.key($0) }))
    }

    @Test func decisions() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D", name: "iPad")])
        func decide(_ query: AdmissionQuery) -> AdmissionAnswer { driver.input { $0.admission(query, $1) } }
        let home = decide(Self.query(.home, "D"))
        #expect(home.decision == .session && home.origin == .lan && home.route == "on this network")
        #expect(home.device == DeviceRef(id: Driver.key("D").id, name: "iPad") && !home.away)
        let vpn = decide(Self.query(.remote, "D", remote: "100.84.3.2:1", interface: "tailscale0"))
        #expect(vpn.decision == .session && vpn.route == "through Tailscale" && vpn.away)
        #expect(decide(Self.query(.remote, "U")).decision == .refuse(.unpaired))
        #expect(decide(Self.query(.home, nil)).decision == .refuse(.unpaired))
        #expect(decide(Self.query(.home, "D", alpn: nil)).decision == .refuse(.unpaired))
        #expect(decide(Self.query(.home, "U", alpn: "sill-pair/1")).decision == .pairing)
        #expect(
            decide(Self.query(.remote, "D", remote: "203.0.113.9:1")).decision == .refuse(.internet))
        #expect(
            decide(Self.query(.home, "D", remote: "100.84.3.2:2", interface: "tailscale0")).decision
                == .refuse(.vpn))
        driver.set { $0.remoteAccess = false }
        #expect(decide(Self.query(.remote, "D")).decision == .goodbye(.remoteOff))
    }

    /// The table of 03 §3.6 knows nothing of Direct; the answer does, before TLS and after it, and counts nothing.
    @Test func directIsRefusedByItsNameWhileItIsOff() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        func decide(_ door: Door, beforeTLS: Bool) -> AdmissionAnswer {
            driver.input {
                $0.admission(
                    Self.query(
                        door, beforeTLS ? nil : "D", remote: "192.168.49.23:5", interface: "awdl0",
                        beforeTLS: beforeTLS), $1)
            }
        }
        for beforeTLS in [true, false] {
            let answer = decide(.home, beforeTLS: beforeTLS)
            #expect(answer.decision == .refuse(.direct) && answer.origin == .direct)
        }
        #expect(driver.core.counters.refusals(.home, .direct) == 0 && driver.summaryLines.isEmpty)
        #expect(decide(.remote, beforeTLS: true).decision == .refuse(.internet))
        driver.set { $0.direct = true }
        #expect(decide(.home, beforeTLS: true).decision == .proceed)
        driver.set { $0.direct = false }
        // C asks again.
        #expect(decide(.home, beforeTLS: false).decision == .refuse(.direct))
        driver.set { $0.direct = true }
        let answer = decide(.home, beforeTLS: false)
        #expect(answer.decision == .session && answer.route == "directly" && !answer.away)
    }

    @Test func backoffIsSharedWithTheOwnDoors() {
        let driver = Driver(devices: [Driver.record("D")])
        for _ in 0..<5 { _ = driver.connect(.home, "X") }
        #expect(driver.core.admission(Self.query(.home, "D"), driver.moment).decision == .refuse(.limit))
        #expect(
            driver.core.admission(Self.query(.home, "D", beforeTLS: true), driver.moment).decision
                == .refuse(.limit))
    }

    @Test func aPendingEntryCountsUntilTheNextCallOr10s() {
        let driver = Driver(devices: [Driver.record("D")])
        func before(_ port: Int) -> AdmissionAnswer.Decision {
            driver.input {
                $0.admission(Self.query(.home, nil, remote: "192.168.1.23:\(port)", beforeTLS: true), $1)
            }.decision
        }
        #expect(before(1) == .proceed)
        #expect(before(2) == .proceed)
        #expect(before(3) == .refuse(.limit))
        let next = driver.input { $0.admission(Self.query(.home, "D", remote: "192.168.1.23:1"), $1) }
        #expect(next.decision == .session)
        #expect(before(4) == .proceed)
        #expect(before(5) == .refuse(.limit))
        driver.wait(until: 10)
        #expect(before(6) == .proceed)
        #expect(before(7) == .proceed)
        // An entry that nobody closed counted nothing but what was refused above.
        #expect(driver.core.counters.refusals(.home, .limit) == 2)
        #expect(driver.core.counters.refusals(.home, .unpaired) == 0)
    }

    /// An origin is found once, by the first question about a connection (03 §3.4).
    @Test func theOriginStaysThatOfTheFirstQuestion() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        let first = driver.input {
            $0.admission(Self.query(.remote, nil, interface: "wg0", beforeTLS: true), $1)
        }
        let next = driver.input { $0.admission(Self.query(.remote, "D"), $1) }
        #expect(first.origin == .vpn && next.origin == .vpn && next.away)
    }

    /// The combined call is never laxer than the steps of a connection.
    @Test func sameAsTheOwnDoors() {
        for door in Door.allCases {
            for word in ["D", "U"] {
                for alpn in [ALPN.session, .pairing] {
                    for internet in [false, true] {
                        let relay = Driver(Self.remote(internet: internet), devices: [Driver.record("D")])
                        let delegated = Driver(Self.remote(internet: internet), devices: [Driver.record("D")])
                        let own = relay.connect(door, word, alpn: alpn, .internet)
                        let query = Self.query(
                            door, word, alpn: alpn.rawValue, remote: "203.0.113.9:4", interface: "eth0")
                        let asked = delegated.core.admission(query, delegated.moment).decision
                        switch own {
                        case .session: #expect(asked == .session)
                        case .pairing: #expect(asked == .pairing)
                        case .goodbye(let reason): #expect(asked == .goodbye(Goodbye(reason: reason)))
                        case .refused(let word), .refusedAtStart(let word): #expect(asked == .refuse(word))
                        case .refusedInHandshake: #expect(asked == .refuse(.unpaired))
                        }
                    }
                }
            }
        }
    }
}
