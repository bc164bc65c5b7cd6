// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// 03 §19: one day against the core.
struct DayTests {
    @Test func aWholeDay() throws {
        let day = Driver(devices: [Driver.record("D")])
        #expect(day.core.status(day.moment).homeDoor == .listening(port: 54021))
        #expect(day.core.status(day.moment).remoteDoor == .off)

        day.wait(until: 1)
        #expect(day.connect(.home, "U") == .refusedInHandshake)
        #expect(day.summaryLines == ["home unpaired 1"])

        day.wait(until: 2)
        day.unlock()
        #expect(day.ask("U")?.reason == "shown")
        #expect(day.core.window(day.moment)?.remote == false)
        #expect(day.core.status(day.moment).remoteDoor == .off)

        day.wait(until: 3)
        #expect(day.pair(.home, "U", day.proof("U"))?.ok == true)
        #expect(day.core.lastWindow?.outcome == .used)
        #expect(day.core.trust.isPaired(Driver.key("U")))

        day.wait(until: 4)
        let first = try #require(day.session(.home, "U"))

        day.wait(until: 10)
        day.set { $0.remoteAccess = true }
        #expect(day.core.status(day.moment).remoteDoor == .listening(port: 7455))

        day.wait(until: 11)
        #expect(day.connect(.remote, "D", .internet) == .refusedAtStart(.internet))
        #expect(day.summaryLines == ["home unpaired 1", "remote internet 1"])

        day.wait(until: 12)
        day.set { $0.internetAccess = true }
        let away = try #require(day.session(.remote, "D", .internet))
        let view = try #require(day.core.session(away))
        #expect(view.route == "over the internet")
        #expect(view.away)

        day.wait(until: 20)
        day.effects = []
        day.set { $0.internetAccess = false }
        #expect(day.goodbyes.map(\.1) == ["internetOff"])
        #expect(day.goodbyes.map(\.0) == [away])
        day.input { $0.sessionEnded(away, .goodbye, $1) }

        day.wait(until: 21)
        let vpn = try #require(day.session(.remote, "D", .vpn))
        #expect(day.core.session(vpn)?.away == true)
        #expect(day.core.session(vpn)?.route == "through Tailscale")

        day.wait(until: 30)
        day.effects = []
        day.set { $0.remoteAccess = false }
        #expect(day.goodbyes.map(\.1) == ["remoteOff"])
        #expect(day.core.status(day.moment).remoteDoor == .off)
        day.input { $0.sessionEnded(vpn, .goodbye, $1) }

        day.wait(until: 31)
        day.openWindow()
        #expect(day.core.status(day.moment).remoteDoor == .listening(port: 7455))

        day.wait(until: 32)
        #expect(day.connect(.remote, "D", .vpn) == .goodbye("remoteOff"))

        day.wait(until: 40)
        #expect(day.input { $0.closeWindow(actor: Actor(text: "unix:0"), $1) })
        #expect(day.core.status(day.moment).remoteDoor == .off)

        day.wait(until: 50)
        day.effects = []
        day.remove("U")
        #expect(day.goodbyes.map(\.1) == ["removed"])
        #expect(day.goodbyes.map(\.0) == [first])
        #expect(day.outcomes == [.removed(closedSessions: 1)])

        day.wait(until: 51)
        #expect(day.connect(.home, "U") == .refusedInHandshake)

        day.wait(until: 60.999)
        #expect(day.summaryLines.count == 2)
        day.wait(until: 61)
        #expect(day.summaryLines == ["home unpaired 1", "remote internet 1", "home unpaired 1"])
    }
}
