// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Doors

@Suite("Session meter")
struct SessionMeterTests {
    static let still = SessionMeter.Sockets(backendHasBytes: false, unread: nil)

    func at(_ seconds: Double) -> MonotonicTime { .seconds(100) + .seconds(seconds) }

    @Test("a frame was sent when its last byte was taken, and only what was taken counts")
    func sent() {
        var meter = SessionMeter()
        meter.frames.add(end: 40, isKeyframe: true)
        meter.frames.add(end: 100, isKeyframe: false)
        meter.wrote(100, cipherEnd: 122)
        #expect(meter.position == 100 && meter.waiting == 100)
        meter.took(cipher: 121, at: at(0.5))
        #expect(
            meter.close(Self.still, at: at(1))
                == LinkSecond(sent: 1, withheld: 0, taken: 99, waiting: 1, heard: false))
        meter.took(cipher: 122, at: at(1.5))
        #expect(
            meter.close(Self.still, at: at(2))
                == LinkSecond(sent: 1, withheld: 0, taken: 1, waiting: 0, heard: false))
    }

    @Test("frames that are not told apart count all, from a keyframe among them on")
    func merged() {
        var meter = SessionMeter()
        for index in 1...100 { meter.frames.add(end: UInt64(index), isKeyframe: index == 80) }
        meter.wrote(100, cipherEnd: 122)
        meter.took(cipher: 122, at: at(0))
        // 63 before the keyframe count nothing; the last entry holds the other 37.
        #expect(meter.close(Self.still, at: at(1)).sent == 37)
    }

    @Test("stopped and resumed make the estimate; a fresh judgement forgets the frames alone")
    func stopped() {
        var meter = SessionMeter()
        meter.frames.add(end: 10, isKeyframe: true)
        meter.wrote(10, cipherEnd: 32)
        meter.took(cipher: 32, at: at(0))
        for index in 1...44 { meter.frames.add(end: 10 + UInt64(index), isKeyframe: false) }
        meter.wrote(44, cipherEnd: 98)
        meter.stopped(at: at(0.2))
        meter.took(cipher: 98, at: at(0.4))
        meter.resumed(backendHadBytes: true, at: at(0.45))
        #expect(
            meter.close(Self.still, at: at(1))
                == LinkSecond(sent: 45, withheld: 15, taken: 54, waiting: 0, heard: false))
        meter.stopped(at: at(1))
        meter.wrote(5, cipherEnd: 125)
        meter.took(cipher: 125, at: at(1.9))
        meter.reset(at: at(1.9))
        // A tenth of a second without a frame: six at 60 a second.
        let full = SessionMeter.Sockets(backendHasBytes: true, unread: nil)
        #expect(
            meter.close(full, at: at(2))
                == LinkSecond(sent: 0, withheld: 6, taken: 5, waiting: 0, heard: false))
    }

    @Test("a device that is not read is heard when more waits than a second ago")
    func unread() {
        var meter = SessionMeter()
        func heard(_ unread: Int?) -> Bool {
            meter.close(SessionMeter.Sockets(backendHasBytes: false, unread: unread), at: at(1)).heard
        }
        #expect(!heard(nil) && !heard(0))
        #expect(heard(40) && !heard(40) && heard(41))
        #expect(!heard(nil))
        // Read in between: whatever waits has come since.
        #expect(heard(7))
        meter.heardDevice()
        #expect(heard(nil) && !heard(nil))
    }

    @Test("the kernel is asked for unsent bytes only while it may have some")
    func unsent() {
        var meter = SessionMeter()
        var asked = 0
        func unsent(_ count: Int) -> Int {
            _ = meter.close(Self.still, at: at(1))
            return meter.unsentInKernel {
                asked += 1
                return count
            }
        }
        #expect(unsent(9) == 0 && asked == 0)
        meter.wrote(10, cipherEnd: 32)
        #expect(unsent(0) == 0 && asked == 1)
        meter.took(cipher: 32, at: at(1))
        #expect(unsent(9) == 9 && asked == 2)
        #expect(unsent(0) == 0 && asked == 3)
        #expect(unsent(9) == 0 && asked == 3)
    }
}
