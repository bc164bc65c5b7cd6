// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Policy
import Testing

@Suite("Cable identity")
struct CableIdentityTests {
    /// The vectors of 04 §6 and 02 §8.5.
    @Test(
        "serial numbers and their identities",
        arguments: [
            ("00008110001A2B3C4D5E6F70", "9thvTr8MQMHWVzL83q51yQ"),
            ("f2b7d1c0a9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4", "RPbBQxYKYEHY16JTasIbwg"),
            ("TEST", "70kQI5Y9AuFqHO6z_HnZaw"), ("00008101000C11E2D3F4A5B6", "66oGHS3VzNEVYNxKyrBBrg"),
        ])
    func vectors(_ serial: String, _ want: String) {
        #expect(CableRule.device(serial: Array(serial.utf8), sha256: { Digest.sha256($0) }) == want)
    }
}
