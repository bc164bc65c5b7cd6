// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 05 B6's last paragraph and 09.36: when the router is asked.
struct ProbeScheduleTests {
    enum Step: Sendable {
        case want(Bool)
        case aim(ProbeSchedule.Target?)
        case announced
        case forwards
        case asked
        case ended(silent: Bool)
        case foundOther
        /// What begins at this moment, nil for nothing.
        case begins(ProbeSchedule.Probe?)
        case deadline(Double?)
    }

    static let home = ProbeSchedule.Target(gateway: ip("192.168.1.1"), lan: ip("192.168.1.5"))
    static let renumbered = ProbeSchedule.Target(gateway: ip("192.168.1.1"), lan: ip("192.168.1.6"))
    static let other = ProbeSchedule.Target(gateway: ip("10.0.0.1"), lan: ip("10.0.0.5"))
    static let unrouted = ProbeSchedule.Target(gateway: nil, lan: ip("192.168.1.5"))

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [(Double, Step)]
    }

    /// Switched on at 0 at home, and answered at 1.
    static let settled: [(Double, Step)] = [
        (0, .aim(home)), (0, .want(true)), (0, .begins(.whole)), (1, .ended(silent: false)),
    ]

    static let rows = [
        Row(
            testDescription: "nothing while not wanted",
            steps: [
                (0, .aim(home)), (1, .announced), (2, .aim(other)), (3, .deadline(nil)), (3, .begins(nil)),
            ]
        ),
        Row(
            testDescription: "wanted, but no router: nothing until there is one",
            steps: [
                (0, .want(true)), (0, .deadline(nil)), (5, .begins(nil)), (9, .aim(home)),
                (9, .begins(.whole)),
            ]),
        Row(testDescription: "switching on asks at once", steps: settled),
        Row(
            testDescription: "one at a time",
            steps: [
                (0, .aim(home)), (0, .want(true)), (0, .begins(.whole)), (1, .asked), (1, .deadline(nil)),
                (1, .begins(nil)), (2, .ended(silent: false)), (2, .begins(nil)),
            ]),
        Row(
            testDescription: "a silent one again after 10 s, patiently, and only once",
            steps: [
                (0, .aim(home)), (0, .want(true)), (0, .begins(.whole)), (2, .ended(silent: true)),
                (2, .deadline(12)), (11.9, .begins(nil)), (12, .begins(.patient)),
                (16, .ended(silent: true)), (16, .deadline(916)), (916, .begins(.light)),
                (918, .ended(silent: true)), (918, .deadline(1818)),
            ]),
        Row(
            testDescription: "every 15 min NAT-PMP, everything after 60",
            steps: settled + [
                (1, .deadline(901)), (901, .begins(.light)), (901, .ended(silent: false)),
                (1801, .begins(.light)), (1801, .ended(silent: false)), (2701, .begins(.light)),
                (2702, .ended(silent: false)), (2702, .deadline(3601)), (3601, .begins(.whole)),
            ]),
        Row(
            testDescription: "without a gateway only everything, after 60 min",
            steps: [
                (0, .aim(unrouted)), (0, .want(true)), (0, .begins(.whole)), (2, .ended(silent: false)),
                (2, .deadline(3602)),
            ]),
        Row(
            testDescription: "another NAT-PMP answer asks everything at once",
            steps: settled + [
                (901, .begins(.light)), (902, .ended(silent: false)), (902, .foundOther),
                (902, .begins(.whole)),
            ]),
        Row(
            testDescription: "another gateway at once",
            steps: settled + [(2, .aim(other)), (2, .begins(.whole))]),
        Row(
            testDescription: "another address of this host not within 30 s of the last begin",
            steps: settled + [(2, .aim(renumbered)), (2, .deadline(30)), (30, .begins(.whole))]),
        Row(
            testDescription: "another address of this host at once later on",
            steps: settled + [(100, .aim(renumbered)), (100, .begins(.whole))]),
        Row(
            testDescription: "the same network again is no change",
            steps: settled + [(100, .aim(home)), (100, .begins(nil)), (100, .deadline(901))]),
        Row(
            testDescription: "gone and back is one",
            steps: settled + [(5, .aim(nil)), (5, .deadline(nil)), (8, .aim(home)), (8, .deadline(30))]),
        Row(
            testDescription: "an announcement asks, not within 30 s of the last begin",
            steps: settled + [(2, .announced), (3, .announced), (3, .deadline(30)), (30, .begins(.whole))]),
        Row(
            testDescription:
                "a forward that the service made is looked at at once, the next not within 30 s of that",
            steps: settled + [
                (2, .forwards), (2, .begins(.whole)), (3, .ended(silent: false)), (4, .forwards),
                (4, .deadline(32)), (32, .begins(.whole)), (33, .ended(silent: false)), (40, .forwards),
                (40, .deadline(62)), (62, .begins(.whole)), (63, .ended(silent: false)), (100, .forwards),
                (100, .begins(.whole)),
            ]),
        Row(
            testDescription: "a forward that changed while one ran is asked about after it",
            steps: [
                (0, .aim(home)), (0, .want(true)), (0, .begins(.whole)), (1, .forwards), (1, .deadline(nil)),
                (2, .ended(silent: false)), (2, .begins(.whole)),
            ]),
        Row(
            testDescription: "a forward that went with the switch asks nothing",
            steps: settled + [(2, .want(false)), (2, .forwards), (2, .deadline(nil))]),
        Row(
            testDescription: "somebody who asks waits for nothing",
            steps: settled + [(2, .announced), (2.5, .asked), (2.5, .begins(.whole))]),
        Row(
            testDescription: "somebody asks while it is off; nothing follows",
            steps: [
                (0, .aim(home)), (1, .asked), (1, .begins(.whole)), (3, .ended(silent: true)),
                (3, .deadline(nil)),
            ]),
        Row(
            testDescription: "NAT-PMP alone is no answer for somebody who asks",
            steps: settled + [
                (901, .begins(.light)), (901.1, .asked), (901.5, .ended(silent: false)),
                (901.5, .begins(.whole)),
            ]),
        Row(
            testDescription: "switching off ends what was due",
            steps: settled + [(2, .aim(other)), (2, .want(false)), (2, .deadline(nil)), (2, .begins(nil))]),
        Row(
            testDescription: "switching off leaves what somebody asked for",
            steps: settled + [(2, .asked), (2, .want(false)), (2, .begins(.whole))]),
        Row(
            testDescription: "asking without a router leaves nothing behind",
            steps: [(0, .asked), (5, .aim(home)), (5, .deadline(nil))]),
        Row(
            testDescription: "a change while one runs is asked about after it",
            steps: [
                (0, .aim(home)), (0, .want(true)), (0, .begins(.whole)), (1, .aim(other)),
                (1, .deadline(nil)),
                (2, .ended(silent: true)), (2, .begins(.whole)), (3, .ended(silent: false)),
                (3, .deadline(903)),
            ]),
        Row(
            testDescription: "switched off while one runs: nothing follows",
            steps: [
                (0, .aim(home)), (0, .want(true)), (0, .begins(.whole)), (1, .want(false)),
                (2, .ended(silent: true)), (2, .deadline(nil)),
            ]),
    ]

    @Test(arguments: rows) func schedule(_ row: Row) {
        var schedule = ProbeSchedule()
        for (seconds, step) in row.steps {
            let now = at(seconds)
            switch step {
            case .want(let isWanted): schedule.want(isWanted, now: now)
            case .aim(let target): schedule.aim(target, now: now)
            case .announced: schedule.announced(now: now)
            case .forwards: schedule.forwardsChanged(now: now)
            case .asked: schedule.asked(now: now)
            case .ended(let silent): schedule.ended(isSilent: silent, now: now)
            case .foundOther: schedule.foundOther(now: now)
            case .begins(let probe): #expect(schedule.begin(now: now) == probe, "at \(seconds)")
            case .deadline(let want): #expect(schedule.nextDeadline == want.map(at), "at \(seconds)")
            }
        }
    }

    @Test func unsupportedIsNotSilent() {
        var evidence = RouterEvidence()
        evidence.isFinished = true
        #expect(evidence.isSilent)
        evidence.natpmp = .silent
        #expect(evidence.isSilent)
        for answer in [NATPMPAnswer.unsupported, .refused, .withheld, .answered(ip("11.22.33.44"))] {
            evidence.natpmp = answer
            #expect(!evidence.isSilent)
        }
        evidence.natpmp = .silent
        evidence.igd = IGDEvidence(host: ip("192.168.1.1"), isGateway: true)
        #expect(!evidence.isSilent)
    }

    @Test func aLightProbeConfirmsOrCastsDoubt() {
        var whole = RouterEvidence()
        whole.gateway = ip("192.168.1.1")
        whole.natpmp = .answered(ip("11.22.33.44"))
        whole.igd = IGDEvidence(host: ip("192.168.1.1"), isGateway: true)
        whole.isFinished = true
        var light = whole
        light.igd = nil
        #expect(whole.confirmed(by: light) == whole)
        light.natpmp = .silent
        #expect(whole.confirmed(by: light) == nil)
    }

    @Test func theNameAtMostEveryFiveMinutes() {
        var names = NameSchedule()
        func begins(_ text: String, _ place: ProbeSchedule.Target?, _ seconds: Double) -> Bool {
            names.begin(text, at: place, now: at(seconds))
        }
        #expect(begins("a.example", Self.home, 0))
        #expect(!begins("a.example", Self.home, 299))
        #expect(begins("b.example", Self.home, 299), "another name")
        #expect(begins("b.example", Self.other, 300), "another network, another resolver")
        #expect(!begins("b.example", Self.other, 599))
        #expect(begins("b.example", Self.other, 600))
    }
}
