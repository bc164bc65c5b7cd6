// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Testing

/// What a device asks for (06 A5).
struct AskedFrameRateTests {
    @Test(arguments: [
        (120, false, false, 120), (120, true, false, 60), (120, false, true, 60), (120, true, true, 60),
        (60, false, true, 60), (48, false, true, 48),
    ])
    func askedAway(_ panel: Int, _ saves: Bool, _ away: Bool, _ fps: Int) {
        #expect(AskedFrameRate.fps(panel: panel, savesPower: saves, isAway: away) == fps)
    }
}
