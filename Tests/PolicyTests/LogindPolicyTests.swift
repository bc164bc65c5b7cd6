// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing

/// The desktop's lock as logind tells it (03 §13).
struct LogindPolicyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let want: LockPolicy.Witness
        let change: @Sendable (inout LogindFacts) -> Void

        init(
            _ testDescription: String, _ want: LockPolicy.Witness,
            _ change: @escaping @Sendable (inout LogindFacts) -> Void = { _ in }
        ) {
            self.testDescription = testDescription
            self.want = want
            self.change = change
        }
    }

    /// An unlocked desktop of user 1000.
    static var desktop: LogindFacts {
        var facts = LogindFacts()
        facts.hasSeat = true
        facts.session = .init(sessionClass: "user", user: 1000, type: "wayland", lockedHint: false)
        return facts
    }

    static let rows = [
        Row("10: a desktop in use", .unlocked),
        Row("10: of the configured user", .unlocked) { $0.desktopUser = 1000 },
        Row("10: X", .unlocked) { $0.session?.type = "x11" },
        Row("10: Mir", .unlocked) { $0.session?.type = "mir" },
        Row("9: the hint is set", .locked) { $0.session?.lockedHint = true },
        Row("9: the hint is missing or no boolean", .locked) { $0.session?.lockedHint = nil },
        Row("8: told to lock", .locked) { $0.session?.isLockSignalled = true },
        Row("8 before 9", .locked) {
            $0.session?.isLockSignalled = true
            $0.session?.lockedHint = true
        },
        Row("7: a text console", .silent) { $0.session?.type = "tty" },
        Row("7: an unknown type", .silent) { $0.session?.type = "holodeck" },
        Row("7: types are exact", .silent) { $0.session?.type = "Wayland" },
        Row("7 before 8 and 9", .silent) {
            $0.session?.type = "tty"
            $0.session?.isLockSignalled = true
            $0.session?.lockedHint = true
        },
        Row("6: another user's desktop", .locked) { $0.desktopUser = 1001 },
        Row("6: root is not everybody", .locked) { $0.desktopUser = 0 },
        Row("6 before 7: another user's console", .locked) {
            $0.desktopUser = 1001
            $0.session?.type = "tty"
        },
        Row("5: the greeter", .locked) { $0.session?.sessionClass = "greeter" },
        Row("5: a lock screen", .locked) { $0.session?.sessionClass = "lock-screen" },
        Row("5: an unknown class", .locked) { $0.session?.sessionClass = "user-early" },
        Row("5: no class", .locked) { $0.session?.sessionClass = "" },
        Row("5 before 7: a greeter on a console", .locked) {
            $0.session?.sessionClass = "greeter"
            $0.session?.type = "tty"
        },
        Row("4: no session is active", .locked) { $0.session = nil },
        Row("3: about to sleep", .locked) { $0.isPreparingForSleep = true },
        Row("3 before 7: a console about to sleep", .locked) {
            $0.isPreparingForSleep = true
            $0.session?.type = "tty"
        },
        Row("2: something cannot be read", .locked) { $0.isUnreadable = true },
        Row("2 before 7: a console, and something cannot be read", .locked) {
            $0.isUnreadable = true
            $0.session?.type = "tty"
        },
        Row("1: no seat", .silent) { $0.hasSeat = false },
        Row("1 before 2, 3 and 4", .silent) {
            $0.hasSeat = false
            $0.isUnreadable = true
            $0.isPreparingForSleep = true
            $0.session = nil
        },
        Row("1: nothing known yet", .silent) { $0 = LogindFacts() },
    ]

    @Test("the rows", arguments: rows)
    func row(_ row: Row) {
        var facts = Self.desktop
        row.change(&facts)
        #expect(LogindPolicy.judge(facts) == row.want)
    }

    /// The rule from its end: each row overrules those below it.
    static func oracle(_ facts: LogindFacts) -> LockPolicy.Witness {
        var says = LockPolicy.Witness.unlocked
        let session = facts.session
        switch session?.lockedHint {
        case false?: break
        case true?, nil: says = .locked
        }
        if session?.isLockSignalled ?? false { says = .locked }
        switch session?.type {
        case "x11", "wayland", "mir": break
        default: says = .silent
        }
        switch (facts.desktopUser, session?.user) {
        case (let wanted?, let found) where wanted != found: says = .locked
        default: break
        }
        if session?.sessionClass != "user" { says = .locked }
        if session == nil { says = .locked }
        if facts.isPreparingForSleep { says = .locked }
        if facts.isUnreadable { says = .locked }
        return facts.hasSeat ? says : .silent
    }

    static let sessions: [LogindFacts.Session?] = {
        var all: [LogindFacts.Session?] = [nil]
        for sessionClass in ["user", "greeter", "lock-screen", "background", "manager", "User", ""] {
            for user: UInt32 in [0, 1000, 1001] {
                for type in ["x11", "wayland", "mir", "tty", "web", "unspecified", "X11", ""] {
                    for isLockSignalled in [false, true] {
                        for hint in [nil, false, true] {
                            all.append(
                                .init(
                                    sessionClass: sessionClass, user: user, type: type,
                                    isLockSignalled: isLockSignalled, lockedHint: hint))
                        }
                    }
                }
            }
        }
        return all
    }()

    @Test("every combination, against the rule written from its end")
    func everything() {
        var seen: [LockPolicy.Witness: Int] = [:]
        for bits in 0..<8 {
            for desktopUser in [nil, 0, 1000, 1001] as [UInt32?] {
                for session in Self.sessions {
                    var facts = LogindFacts()
                    facts.hasSeat = bits & 1 != 0
                    facts.isUnreadable = bits & 2 != 0
                    facts.isPreparingForSleep = bits & 4 != 0
                    facts.desktopUser = desktopUser
                    facts.session = session
                    let says = LogindPolicy.judge(facts)
                    if says != Self.oracle(facts) { Issue.record("\(facts) is \(says)") }
                    seen[says, default: 0] += 1
                }
            }
        }
        let sessionCount = 1 + 7 * 3 * 8 * 2 * 3
        #expect(Self.sessions.count == sessionCount)
        // 3 types, and of the 12 pairs of users the 3 in which anybody's session will do and the 3 equal ones.
        #expect(seen[.unlocked] == 3 * 6)
    }

    @Test(
        "the desktop user",
        arguments: [
            (UInt32?.none, UInt32(990), false, UInt32?.none), (nil, 1000, true, 1000), (nil, 0, true, 0),
            (1001, 1000, true, 1001), (1001, 1000, false, 1001), (0, 990, false, 0),
        ])
    func desktopUser(_ configured: UInt32?, _ own: UInt32, _ ownHasSession: Bool, _ want: UInt32?) {
        #expect(
            LogindPolicy.desktopUser(configured: configured, own: own, ownHasSession: ownHasSession) == want)
    }

    struct Worked: Sendable {
        let session: LogindFacts.Session?
        let hasLogind: Bool
        let word: LockPolicy.Witness
        let isUnlocked: Bool

        init(
            _ session: LogindFacts.Session?, word: LockPolicy.Witness, isUnlocked: Bool,
            hasLogind: Bool = true
        ) {
            self.session = session
            self.word = word
            self.isUnlocked = isUnlocked
            self.hasLogind = hasLogind
        }
    }

    static func session(_ type: String, hint: Bool, of sessionClass: String = "user") -> LogindFacts.Session {
        .init(sessionClass: sessionClass, user: 1000, type: type, lockedHint: hint)
    }

    @Test(
        "with the API's word: the worked table",
        arguments: [
            Worked(session("wayland", hint: false), word: .silent, isUnlocked: true),
            Worked(session("wayland", hint: true), word: .unlocked, isUnlocked: false),
            Worked(session("wayland", hint: false, of: "greeter"), word: .unlocked, isUnlocked: false),
            Worked(nil, word: .silent, isUnlocked: false, hasLogind: false),
            Worked(nil, word: .unlocked, isUnlocked: true, hasLogind: false),
            Worked(session("wayland", hint: false), word: .locked, isUnlocked: false),
            Worked(session("tty", hint: false), word: .silent, isUnlocked: false),
        ])
    func worked(_ row: Worked) {
        var facts = LogindFacts()
        facts.hasSeat = row.hasLogind
        facts.session = row.session
        #expect(LockPolicy.isUnlocked(logind: LogindPolicy.judge(facts), word: row.word) == row.isUnlocked)
    }
}
