// SPDX-License-Identifier: Apache-2.0

package import Wire

/// How a relay, which never sees the frames a backend held back, estimates them from its own back-pressure (06 C3).
package enum WithheldEstimate {
    /// `stopped` are the whole milliseconds (0 to 1000) of the second in which reading was stopped by a full hold while
    /// the backend had bytes ready.
    package static func withheld(sent: Int, stopped: Int) -> Int {
        let stopped = min(max(stopped, 0), 1000)
        guard sent > 0, stopped < 1000 else { return (60 * stopped + 500) / 1000 }
        let (product, overflow) = sent.multipliedReportingOverflow(by: stopped)
        return overflow ? most : min(product / (1000 - stopped), most)
    }

    /// No stream has more frames a second.
    package static let most = 120
}

/// Counts one session's seconds at the relay, at message boundaries (06 C2, C3). Each call costs the same.
package struct RelayMeter: Sendable, Equatable {
    /// The most of a session's stream that is held.
    package static let hold = 256 << 10
    /// Reading goes on when at most this is left.
    package static let resumeAt = 128 << 10

    private var sent = 0
    private var taken = 0
    private var heard = false
    private var stoppedFor: Duration = .zero
    /// Since when reading is stopped, within this second.
    private var stoppedSince: MonotonicTime?
    /// The catalog and the first picture are a burst that says nothing.
    private var isStreaming = false

    package init() {}

    /// So many bytes of the session's messages were accepted by TLS and the kernel.
    package mutating func took(bytes: Int) { taken += max(bytes, 0) }

    /// The last byte of a message was taken.
    package mutating func tookMessage(isVideo: Bool, isKeyframe: Bool, at now: MonotonicTime) {
        guard isVideo else { return }
        if isStreaming {
            sent += 1
        } else if isKeyframe {
            isStreaming = true
            sent = 1
            stoppedFor = .zero
            if stoppedSince != nil { stoppedSince = now }
        }
    }

    /// A byte came from the device.
    package mutating func heardDevice() { heard = true }

    /// The hold is full: the backend is not read for now.
    package mutating func stopped(at now: MonotonicTime) {
        if stoppedSince == nil { stoppedSince = now }
    }

    /// The backend is read again; whether it had bytes ready meanwhile.
    package mutating func resumed(backendHadBytes: Bool, at now: MonotonicTime) {
        if let since = stoppedSince, backendHadBytes { stoppedFor += now - since }
        stoppedSince = nil
    }

    /// The second ends. `waiting` are the session's bytes held in user space; `backendHasBytes` counts only while reading
    /// is stopped.
    package mutating func close(waiting: Int, backendHasBytes: Bool, at now: MonotonicTime) -> LinkSecond {
        if let since = stoppedSince {
            if backendHasBytes { stoppedFor += now - since }
            stoppedSince = now
        }
        let milliseconds = Int(stoppedFor.wholeNanoseconds / 1_000_000)
        let withheld = isStreaming ? WithheldEstimate.withheld(sent: sent, stopped: milliseconds) : 0
        let second = LinkSecond(
            sent: sent, withheld: withheld, taken: taken, waiting: waiting, heard: heard)
        (sent, taken, heard, stoppedFor) = (0, 0, false, .zero)
        return second
    }

    /// The session is judged afresh: this second's frames count no more.
    package mutating func reset(at now: MonotonicTime) {
        sent = 0
        stoppedFor = .zero
        if stoppedSince != nil { stoppedSince = now }
    }
}
