// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import Wire

@testable import Host

struct IssueClockTests {
    @Test("later each time, also within one millisecond, and never long ahead of a clock that was set back")
    func grows() {
        let times: [Int64] = [5_000, 5_000, 5_000, 4_500, 5_010, 3_000, 3_000]
        let next = Mutex(0)
        let clock = IssueClock {
            next.withLock { index in
                index += 1
                return WallTime(milliseconds: times[index - 1])
            }
        }
        #expect(
            times.map { _ in clock.stamp().milliseconds }
                == [5_000, 5_001, 5_002, 5_003, 5_010, 3_000, 3_001])
    }
}
