// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Doors

/// A frame; `flag` is its header's keyframe byte.
func frame(_ count: Int, flag: UInt8 = 0) -> [UInt8] {
    var bytes = message(1, count)
    bytes[9] = flag
    return bytes
}

@Suite("Ends of frames")
struct FrameEndsTests {
    typealias Entry = FrameEnds.Entry

    /// Everything that waits.
    static func drain(_ ends: FrameEnds) -> [Entry] {
        var ends = ends
        var all: [Entry] = []
        while let entry = ends.take(upTo: .max) { all.append(entry) }
        return all
    }

    /// A catalog, and frames between everything that may stand between them.
    static let stream: [[UInt8]] = [
        message(2, 40), message(16, 9), message(4, 120), frame(200, flag: 1), message(18, 70), frame(0),
        message(13), frame(31, flag: 2), message(18), frame(500), message(0, 12), frame(3, flag: 1),
        message(29, 60), message(26, 5),
    ]

    /// The rule over whole messages: the backend's 18 goes, ours of `ownSize` bytes stands behind the 16.
    static func want(ownSize: UInt64) -> [Entry] {
        var position: UInt64 = 0
        var ends: [Entry] = []
        for one in stream where one[0] != 18 {
            position += UInt64(one.count)
            if one[0] == 16 { position += ownSize }
            if one[0] == 1 { ends.append(Entry(end: position, frames: 1, hasKeyframe: one[9] == 1)) }
        }
        return ends
    }

    static let length = stream.reduce(0) { $0 + $1.count }

    @Test("a frame's end and its keyframe flag are found wherever the stream is split")
    func everySplit() {
        let bytes = Self.stream.flatMap { $0 }
        for ownSize in [UInt64(0), 44] {
            let want = Self.want(ownSize: ownSize)
            #expect(want.count == 5)
            for split in 0...bytes.count {
                var run = HostStreamTests.Run()
                run.ownSize = ownSize
                run.feed(Array(bytes.prefix(split)))
                run.feed(Array(bytes.dropFirst(split)))
                #expect(Self.drain(run.frames) == want, "split at \(split)")
            }
        }
    }

    @Test("and whatever the pieces", arguments: 1...60)
    func pieces(size: Int) {
        var run = HostStreamTests.Run()
        run.ownSize = 44
        run.feed(Self.stream.flatMap { $0 }, pieces: size)
        #expect(Self.drain(run.frames) == Self.want(ownSize: 44))
    }

    @Test("a frame that has not ended is none, and one behind the goodbye does not pass")
    func unfinished() {
        var run = HostStreamTests.Run()
        run.feed(frame(10) + frame(50).dropLast())
        #expect(Self.drain(run.frames) == [Entry(end: 24, frames: 1, hasKeyframe: false)])
        run.stream.requestGoodbye()
        run.feed([0] + frame(7))
        #expect(Self.drain(run.frames).map(\.end) == [24, 88])
    }

    @Test("a frame is taken with its last byte, not before")
    func taking() {
        var ends = FrameEnds()
        ends.add(end: 100, isKeyframe: true)
        ends.add(end: 250, isKeyframe: false)
        #expect(ends.take(upTo: 99) == nil)
        #expect(ends.take(upTo: 100) == Entry(end: 100, frames: 1, hasKeyframe: true))
        #expect(ends.take(upTo: 249) == nil && !ends.isEmpty)
        #expect(ends.take(upTo: 900) == Entry(end: 250, frames: 1, hasKeyframe: false))
        #expect(ends.take(upTo: 900) == nil && ends.isEmpty)
    }

    @Test("beyond the limit frames count with a later one, and none is lost", arguments: [0, 1, 63, 64, 200])
    func bounded(taken: Int) {
        var ends = FrameEnds()
        var frames = 0
        // Some come and go first, so that the list does not begin at its front.
        for index in 0..<taken {
            ends.add(end: UInt64(index + 1), isKeyframe: false)
            while let entry = ends.take(upTo: UInt64(index)) { frames += entry.frames }
        }
        for index in taken..<taken + 1_000 {
            ends.add(end: UInt64(index + 1) * 10_000, isKeyframe: index == taken + 500)
        }
        let waiting = Self.drain(ends)
        #expect(waiting.count == FrameEnds.limit)
        #expect(frames + waiting.reduce(0) { $0 + $1.frames } == taken + 1_000)
        #expect(waiting.last?.end == UInt64(taken + 1_000) * 10_000)
        #expect(waiting.filter(\.hasKeyframe).count == 1 && waiting.last?.hasKeyframe == true)
    }
}
