// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("1.2.3.4:5", "1.2.3.4:5"), ("[::1]:5", "[::1]:5"), ("[fe80::1%3]:7455", "[fe80::1]:7455"),
        ("[::ffff:1.2.3.4]:80", "1.2.3.4:80"), ("0.0.0.0:0", "0.0.0.0:0"), ("1.2.3.4:65535", "1.2.3.4:65535"),
        ("1.2.3.4:00080", "1.2.3.4:80"),
    ])
    func reads(text: String, shown: String) {
        #expect(SocketAddress(text)?.description == shown)
    }

    @Test(arguments: [
        "", ":", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:000080", "1.2.3.4:+5", "1.2.3.4:5 ",
        "::1:5", "[::1]5",
        "[::1]", "[::1]:", "localhost:5", ":5", "1.2.3.4:５",
    ])
    func refuses(text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test func keepsTheScope() {
        #expect(SocketAddress("[fe80::1%3]:5")?.ip.scope == 3)
    }
}
