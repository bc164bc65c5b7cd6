// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import Policy
internal import Wire

/// One relayed session's seconds (06 C1 to C3): what was written to TLS and what the kernel took, in messages and
/// plaintext bytes, for ``RelayMeter`` to count. No I/O; costs by writes, flushes and frames, never by bytes.
struct SessionMeter: Sendable, Equatable {
    /// For ``HostStream``, which finds where frames end.
    var frames = FrameEnds()

    private var relay = RelayMeter()
    private var plain = TakenPlaintext()
    // Of a device that is not read: what waited in its socket when the last second ended.
    private var unread = 0
    // The kernel may still hold something unsent.
    private var mayBeUnsent = false

    /// The position of the next byte that goes to TLS.
    var position: UInt64 { plain.written }

    /// Plaintext bytes held in user space.
    var waiting: Int { plain.waiting }

    /// So much of the session's plaintext was given to TLS, and its ciphertext ends here in the connection's stream.
    mutating func wrote(_ count: Int, cipherEnd: UInt64) { plain.wrote(count, cipherEnd: cipherEnd) }

    /// The kernel has taken so much of the connection's ciphertext in all.
    mutating func took(cipher: UInt64, at now: MonotonicTime) {
        let count = plain.took(cipher: cipher)
        guard count > 0 else { return }
        relay.took(bytes: count)
        while let entry = frames.take(upTo: plain.taken) {
            relay.tookMessage(isVideo: true, isKeyframe: entry.hasKeyframe, at: now)
            for _ in 1..<entry.frames { relay.tookMessage(isVideo: true, isKeyframe: false, at: now) }
        }
    }

    /// Bytes came from the device.
    mutating func heardDevice() { relay.heardDevice() }

    /// The hold is full.
    mutating func stopped(at now: MonotonicTime) { relay.stopped(at: now) }

    /// The backend is read again.
    mutating func resumed(backendHadBytes: Bool, at now: MonotonicTime) {
        relay.resumed(backendHadBytes: backendHadBytes, at: now)
    }

    /// The session is judged afresh.
    mutating func reset(at now: MonotonicTime) { relay.reset(at: now) }

    /// What a second's end has to ask the kernel.
    struct Sockets {
        /// Whether the backend has bytes ready; asked while the hold is full.
        var backendHasBytes: Bool
        /// Bytes of the device that wait in its socket because it is not read now; nil while it is.
        var unread: Int?
    }

    /// The second ends.
    ///
    /// A device that is not read, because the backend takes nothing, is heard when more of it waits than a second ago.
    mutating func close(_ sockets: Sockets, at now: MonotonicTime) -> LinkSecond {
        if let count = sockets.unread, count > unread { relay.heardDevice() }
        unread = sockets.unread ?? 0
        let second = relay.close(waiting: waiting, backendHasBytes: sockets.backendHasBytes, at: now)
        if second.taken > 0 || second.waiting > 0 { mayBeUnsent = true }
        return second
    }

    /// The kernel's unsent bytes, asked for only while there may be any: an idle session costs no call.
    mutating func unsentInKernel(_ ask: () -> Int) -> Int {
        guard mayBeUnsent else { return 0 }
        let count = ask()
        mayBeUnsent = count > 0
        return count
    }

    /// Gives back the memory of what is empty; for a session that has gone quiet.
    mutating func releaseIdleMemory() {
        frames.releaseIdleMemory()
        plain.releaseIdleMemory()
    }
}
