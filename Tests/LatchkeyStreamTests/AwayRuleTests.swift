// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Testing

/// When the away quality is wanted (06 A3).
struct AwayRuleTests {
    @Test(arguments: [
        (Presence(), true, true), (Presence(), false, false), (Presence(away: 1), false, true),
        (Presence(away: 2), false, true), (Presence(away: 1, home: 1), true, false),
        (Presence(home: 1), true, false), (Presence(home: 2), false, false), (Presence(away: 3), true, true),
    ])
    func wanted(_ presence: Presence, _ before: Bool, _ after: Bool) {
        #expect(AwayRule.wantsAway(presence, before: before) == after)
    }

    @Test(arguments: [
        (Presence(), false, "nobody is connected"),
        (Presence(), true, "nobody is connected, the last one was away"),
        (Presence(away: 1), true, "1 device away, none at home"),
        (Presence(away: 2), true, "2 devices away, none at home"),
        (Presence(home: 1), false, "1 device at home"),
        (Presence(away: 1, home: 2), false, "2 devices at home, 1 away"),
    ])
    func reasons(_ presence: Presence, _ wants: Bool, _ words: String) {
        #expect(AwayRule.reason(presence, wantsAway: wants) == words)
    }
}
