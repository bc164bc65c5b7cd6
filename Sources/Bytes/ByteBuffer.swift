// SPDX-License-Identifier: Apache-2.0

/// A FIFO of bytes over one contiguous allocation.
///
/// A class, so that one buffer can be lent to a socket, a TLS engine and a parser on the same thread without a copy;
/// not Sendable, so that it stays there. Appending keeps what is readable in one piece (moving it to the front or to a
/// larger allocation when needed), and an empty buffer can give its memory back with ``releaseStorage()``: an idle
/// session should cost next to nothing.
@safe package final class ByteBuffer {
    // All three always satisfy 0 <= head <= tail <= storage.count.
    private var storage: UnsafeMutableRawBufferPointer
    private var head = 0
    private var tail = 0

    /// The smallest allocation made by growth, in bytes; below it doubling would only repeat itself.
    private static let smallestGrowth = 256

    /// An empty buffer that holds `capacity` bytes before it grows. 0 allocates nothing until the first append.
    package init(capacity: Int = 0) {
        unsafe storage = Self.allocate(max(0, capacity))
    }

    deinit { unsafe storage.deallocate() }

    /// Bytes waiting to be consumed.
    package var count: Int { tail - head }

    /// Whether nothing waits.
    package var isEmpty: Bool { head == tail }

    /// Bytes allocated, read or not: what this buffer costs.
    package var capacity: Int { unsafe storage.count }

    /// Adds bytes at the end.
    package func append(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe append(raw: $0) }
    }

    /// Adds bytes at the end.
    package func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe append(raw: $0) }
    }

    /// Lends everything readable as a span; the span ends with the call.
    package func withSpan<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
        let readable = unsafe UnsafeRawBufferPointer(rebasing: storage[head..<tail])
        return try unsafe body(Span<UInt8>(_unsafeBytes: readable))
    }

    /// Lends everything readable to a C call; the pointer dies with the call. For wrappers of C libraries only.
    package func withReadable<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try unsafe body(UnsafeRawBufferPointer(rebasing: storage[head..<tail]))
    }

    /// Lends room for at least `reserving` bytes to a C call, which returns how many it wrote from the start of it.
    ///
    /// The pointer dies with the call. Returns that number, clamped to the room there was. For wrappers of C libraries
    /// only.
    @discardableResult
    package func withWritable(
        reserving: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Int
    ) rethrows -> Int {
        reserve(reserving)
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: storage[tail...])
        let written = try unsafe min(max(0, body(room)), room.count)
        tail += written
        return written
    }

    /// Drops the first `count` bytes, or all when fewer are there.
    package func consume(_ count: Int) {
        head += min(max(0, count), self.count)
        if head == tail {
            head = 0
            tail = 0
        }
    }

    /// Drops everything and keeps the memory.
    package func removeAll() {
        head = 0
        tail = 0
    }

    /// Drops everything and gives the memory back.
    package func releaseStorage() {
        removeAll()
        guard unsafe storage.count > 0 else { return }
        unsafe storage.deallocate()
        unsafe storage = Self.allocate(0)
    }

    /// Moves everything to the end of `other`. Swaps the allocations, without a copy, when `other` is empty.
    package func moveAll(to other: ByteBuffer) {
        guard other !== self, !isEmpty else { return }
        guard other.isEmpty else { return move(count, to: other) }
        unsafe swap(&storage, &other.storage)
        swap(&head, &other.head)
        swap(&tail, &other.tail)
        removeAll()
    }

    /// Moves the first `n` bytes, or all when fewer are there, to the end of `other`.
    package func move(_ n: Int, to other: ByteBuffer) {
        guard other !== self else { return }
        let taken = min(max(0, n), count)
        unsafe other.append(raw: UnsafeRawBufferPointer(rebasing: storage[head..<head + taken]))
        consume(taken)
    }

    /// Copies everything readable out; for small messages and tests.
    package var bytes: [UInt8] { unsafe [UInt8](storage[head..<tail]) }

    /// Removes and returns the first `n` bytes, or all when fewer are there; for small messages.
    package func take(_ n: Int) -> [UInt8] {
        let taken = min(max(0, n), count)
        let result = unsafe [UInt8](storage[head..<head + taken])
        consume(taken)
        return result
    }

    /// Makes room for `more` bytes behind `tail`.
    package func reserve(_ more: Int) {
        let more = max(0, more)
        guard unsafe storage.count - tail < more else { return }
        let held = count
        // Moving down is cheaper than growing as long as it frees at least half: each byte then moves at most once
        // for every byte appended.
        if unsafe held + more <= storage.count, head >= held {
            // Regions may overlap; copyMemory of a raw buffer allows it.
            unsafe storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[head..<tail]))
        } else {
            let wanted = unsafe max(held + more, storage.count &* 2, Self.smallestGrowth)
            let grown = unsafe Self.allocate(wanted)
            if held > 0 {
                unsafe grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[head..<tail]))
            }
            unsafe storage.deallocate()
            unsafe storage = grown
        }
        head = 0
        tail = held
    }

    private func append(raw: UnsafeRawBufferPointer) {
        guard unsafe !raw.isEmpty else { return }
        reserve(raw.count)
        unsafe UnsafeMutableRawBufferPointer(rebasing: storage[tail...]).copyMemory(from: raw)
        tail += raw.count
    }

    private static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        guard count > 0 else { return unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0) }
        return UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    }
}
