// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DeviceCLI

@Suite("A person's stop", .timeLimit(.minutes(1)))
struct StopRequestTests {
    @Test("heard by whoever waited, and by all who wait later; a second one is known as such")
    func stays() async {
        let stops = StopRequest()
        async let first = stops.wait()
        #expect(stops.ask(ExitCode(rawValue: 130)))
        #expect(await first.rawValue == 130)
        // The dial that heard it has ended as it came: the session that follows is told too.
        #expect(await stops.wait().rawValue == 130)
        #expect(!stops.ask(ExitCode(rawValue: 143)))
        #expect(await stops.wait().rawValue == 130)
    }
}
