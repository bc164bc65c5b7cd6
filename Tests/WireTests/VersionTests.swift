// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct VersionTests {
    /// File 01 §8.2.
    @Test(arguments: [
        ("v0.4.0", "0.4"), ("1.2.3-beta.1", "1.2.3"), ("0.3.0 (85)", "0.3"), ("1", "1.0"), ("0", "0.0"),
        ("V2", "2.0"), (" \n1.5\t", "1.5"), ("1.", "1.0"), ("1...", "1.0"), ("1.x", "1.0"), ("1.2.x", "1.2"),
        ("001.002", "1.2"), ("1.0.0.0.0.0.0.1", "1.0.0.0.0.0.0.1"), ("999999999", "999999999.0"),
        ("1.2.0.0.0.0.0.0", "1.2"), ("\u{A0}1.0.3\u{2003}", "1.0.3"), ("1．2", "1.0"), ("0.0.0", "0.0"),
        ("0.0.1", "0.0.1"),
    ])
    func shown(text: String, shown: String) {
        #expect(Version(text)?.shown == shown)
    }

    @Test(arguments: [
        "dev", "", "v", ".1", "1..2", "vv1", "v.1", "-1", "+1", "１", "1234567890", "1.2.3.4.5.6.7.8.9", "v 1",
        "...", ". 1",
        "1.0000000000",
    ])
    func notAVersion(text: String) {
        #expect(Version(text) == nil)
    }

    @Test func order() throws {
        let ascending = ["0", "0.0.1", "0.4", "0.9", "0.10", "1", "1.0.1", "1.1", "2", "10"].compactMap {
            Version($0)
        }
        #expect(ascending.count == 10)
        for (index, left) in ascending.enumerated() {
            for (other, right) in ascending.enumerated() {
                #expect((left < right) == (index < other))
                #expect((left == right) == (index == other))
            }
        }
        #expect(Version("v0.4.0") == Version("0.4"))
        #expect(Version("1") == Version("1.0.0"))
        #expect(Version("0.0") == .zero)
        #expect(Version.zero.isZero)
        #expect(try #require(Version("0.0.1")).isZero == false)
    }
}
