// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 03 §7.1 with the reference's numbers and with what ships.
struct PendingLimitsTests {
    func source(_ number: Int) -> IPAddress { ip("198.51.\(number / 250).\(number % 250)") }

    @Test func referenceRefusesTheNinth() {
        var pending = PendingLimits<Int>(.reference)
        for number in 0..<8 { #expect(pending.arrive(number, from: source(number)) == .admitted) }
        #expect(pending.arrive(8, from: source(8)) == .refused)
        pending.leave(3)
        #expect(pending.arrive(9, from: source(9)) == .admitted)
    }

    @Test(arguments: [DoorLimits.reference, .shipped]) func twoOfASource(_ limits: DoorLimits) {
        var pending = PendingLimits<Int>(limits)
        #expect(pending.arrive(1, from: source(1)) == .admitted)
        #expect(pending.arrive(2, from: source(1)) == .admitted)
        #expect(pending.arrive(3, from: source(1)) == .refused)
        pending.leave(1)
        pending.leave(1)
        #expect(pending.arrive(4, from: source(1)) == .admitted)
        #expect(pending.arrive(5, from: source(1)) == .refused)
    }

    @Test func whoHasTwoGetsNoRoomMade() {
        var limits = DoorLimits.shipped
        limits.pendingPerDoor = 2
        var pending = PendingLimits<Int>(limits)
        for number in 1...2 { _ = pending.arrive(number, from: source(1)) }
        #expect(pending.arrive(3, from: source(1)) == .refused)
        #expect(pending.arrive(4, from: source(2)) == .admittedInsteadOf(1))
    }

    @Test func whoLeftWithAllMayComeWithTwo() {
        var pending = PendingLimits<Int>(.shipped)
        _ = pending.arrive(1, from: source(1))
        pending.leave(1)
        let verdicts = (2...4).map { pending.arrive($0, from: source(1)) }
        #expect(verdicts == [.admitted, .admitted, .refused])
    }

    @Test func theOldestSilentOneMakesRoom() {
        var limits = DoorLimits.shipped
        limits.pendingPerDoor = 3
        var pending = PendingLimits<Int>(limits)
        for number in 1...3 { _ = pending.arrive(number, from: source(number)) }
        pending.sentClientHello(1)
        #expect(pending.arrive(4, from: source(4)) == .admittedInsteadOf(2))
        pending.sentClientHello(3)
        pending.sentClientHello(4)
        #expect(pending.arrive(5, from: source(5)) == .admittedInsteadOf(1))
        #expect(pending.count == 3)
    }

    /// "While those are the more": of as many, it is a silent one.
    @Test func ofAsManySilentAndTalkingASilentOneMakesRoom() {
        var limits = DoorLimits.shipped
        limits.pendingPerDoor = 2
        var pending = PendingLimits<Int>(limits)
        for number in 1...2 { _ = pending.arrive(number, from: source(number)) }
        pending.sentClientHello(1)
        #expect(pending.arrive(3, from: source(3)) == .admittedInsteadOf(2))
        pending.sentClientHello(3)
        #expect(pending.arrive(4, from: source(4)) == .admittedInsteadOf(1))
    }

    /// Whatever a crowd is made of, somebody whose words are half a second on their way gets to say them: it takes some
    /// five hundred of the crowd after it to push it out, silent or not.
    @Test(arguments: ["silent", "talking", "mixed"]) func aSlowDeviceOutlastsACrowd(_ crowd: String) {
        var pending = PendingLimits<Int>(.shipped)
        var number = 0
        var gone: Set<Int> = []
        func oneMore() {
            number += 1
            if case .admittedInsteadOf(let victim) = pending.arrive(number, from: source(number)) {
                gone.insert(victim)
            }
            if crowd == "talking" || (crowd == "mixed" && number.isMultiple(of: 2)) {
                pending.sentClientHello(number)
            }
        }
        for _ in 0..<2_000 { oneMore() }
        let device = -1
        #expect(pending.arrive(device, from: source(10_000)) != .refused)
        for _ in 0..<500 { oneMore() }
        #expect(!gone.contains(device))
        pending.sentClientHello(device)
        for _ in 0..<500 { oneMore() }
        #expect(!gone.contains(device) && pending.count == 1_024)
    }

    @Test func aFullDoorStillTakesEachNewSource() {
        var pending = PendingLimits<Int>(.shipped)
        for number in 0..<5_000 {
            #expect(pending.arrive(number, from: source(number)) != .refused)
        }
        #expect(pending.count == 1_024)
    }
}
