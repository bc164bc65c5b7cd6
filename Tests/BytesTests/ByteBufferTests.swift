// SPDX-License-Identifier: Apache-2.0

import Bytes
import Testing

@Suite("Byte FIFO")
struct ByteBufferTests {
    @Test("bytes come out in the order they went in")
    func order() {
        let buffer = ByteBuffer()
        #expect(buffer.isEmpty && buffer.capacity == 0)
        buffer.append([1, 2, 3])
        buffer.append([])
        buffer.append([4, 5].span)
        #expect(buffer.bytes == [1, 2, 3, 4, 5])
        buffer.consume(2)
        #expect(buffer.bytes == [3, 4, 5])
        #expect(buffer.take(2) == [3, 4])
        #expect(buffer.take(9) == [5])
        #expect(buffer.isEmpty)
    }

    @Test("asking for more than is there, or less than nothing, takes what there is")
    func clamps() {
        let buffer = ByteBuffer(capacity: 4)
        buffer.append([1, 2])
        buffer.consume(-1)
        #expect(buffer.count == 2)
        buffer.consume(7)
        #expect(buffer.isEmpty)
        let written = unsafe buffer.withWritable(reserving: -5) { _ in 1000 }
        #expect(written == buffer.capacity)
    }

    @Test("against an array, over many sizes", arguments: [1, 2, 3, 7, 64, 255, 256, 257, 1000])
    func oracle(step: Int) {
        let buffer = ByteBuffer()
        var wanted: [UInt8] = []
        for round in 0..<200 {
            let chunk = (0..<(round * step % 613)).map { UInt8(truncatingIfNeeded: $0 &+ round) }
            buffer.append(chunk)
            wanted += chunk
            let drop = (round * 31) % (step + 200)
            buffer.consume(drop)
            wanted.removeFirst(min(drop, wanted.count))
            #expect(buffer.count == wanted.count)
        }
        #expect(buffer.bytes == wanted)
    }

    @Test("a steady stream does not grow the allocation")
    func steady() {
        let buffer = ByteBuffer(capacity: 1024)
        for _ in 0..<1000 {
            buffer.append([UInt8](repeating: 7, count: 300))
            buffer.consume(300)
        }
        #expect(buffer.capacity == 1024)
    }

    @Test("moving everything into an empty buffer swaps the allocations")
    func swapping() {
        let from = ByteBuffer(capacity: 512)
        let to = ByteBuffer()
        from.append([1, 2, 3])
        from.consume(1)
        from.moveAll(to: to)
        #expect(from.isEmpty && from.capacity == 0)
        #expect(to.bytes == [2, 3] && to.capacity == 512)
    }

    @Test("moving appends when the other one holds something, and moving to itself does nothing")
    func moving() {
        let from = ByteBuffer()
        let to = ByteBuffer()
        to.append([9])
        from.append([1, 2, 3])
        from.move(1, to: to)
        from.moveAll(to: to)
        to.moveAll(to: to)
        to.move(2, to: to)
        #expect(from.isEmpty)
        #expect(to.bytes == [9, 1, 2, 3])
    }

    @Test("released memory is really gone, and the buffer works on")
    func release() {
        let buffer = ByteBuffer(capacity: 4096)
        buffer.append([1])
        buffer.releaseStorage()
        #expect(buffer.isEmpty && buffer.capacity == 0)
        buffer.append([2])
        #expect(buffer.bytes == [2])
        #expect(buffer.withSpan { $0.count } == 1)
        let first = unsafe buffer.withReadable { unsafe $0.first }
        #expect(first == 2)
    }
}
