// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 09.5: what is left at a restart, whatever became of the clock meanwhile.
struct LockoutTests {
    @Test(arguments: [
        (100.0, 100.0), (0.001, 0.001), (0, 0), (-0.001, 0), (-1e6, 0), (300, 300), (300.001, 300),
        (1e6, 300),
    ])
    func rest(_ until: Double, _ rest: Double) {
        let now = WallTime(milliseconds: 1_790_000_000_000)
        let end = WallTime(milliseconds: now.milliseconds + Int64((until * 1000).rounded()))
        let lockout = Lockout(.homeBackoff, "192.0.2.1", until: end)
        #expect(lockout.rest(at: now, of: .seconds(300)) == .milliseconds(Int64((rest * 1000).rounded())))
    }
}
