// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Wire

/// The time rules are judged by: never set, counts on from the machine's start (`CLOCK_MONOTONIC`).
package func monotonicNow() -> MonotonicTime {
    let time = read(clock: CLOCK_MONOTONIC)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}

/// The time that is shown and stored: may jump when the machine's clock is set.
package func wallNow() -> WallTime {
    let time = read(clock: CLOCK_REALTIME)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
}

private func read(clock: clockid_t) -> timespec {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return time
}
