// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct HostInfoTests {
    // The vector of file 01 §6.5. That it verifies is the crypto tests' to say.
    private static let info =
        "eyJ2IjoxLCJtYWNJRCI6IkI5WDdISzU0TTNUMjFQRFciLCJuYW1lIjoiTWFjIG1pbmkiLCJpc3N1ZWRBdCI6MTc5MDI2NTYwMC41LCJyZW1vdGVBY2"
        + "Nlc3MiOnRydWUsInJlbW90ZVBvcnQiOjc0NTUsImludGVybmV0IjpmYWxzZSwiYWRkcmVzc2VzIjpbeyJob3N0IjoibWFjLW1pbmkudGFpbDEyMzQ"
        + "udHMubmV0Iiwia2luZCI6InZwbiIsInZpYSI6IlRhaWxzY2FsZSJ9LHsiaG9zdCI6IjEwMC4xMDEuMTAyLjEwMyIsImtpbmQiOiJ2cG4iLCJ2aWEi"
        + "OiJUYWlsc2NhbGUifSx7Imhvc3QiOiJmZDdhOjExNWM6YTFlMDo6MTIzNCIsImtpbmQiOiJ2cG4iLCJ2aWEiOiJUYWlsc2NhbGUifSx7Imhvc3QiO"
        + "iIxOTIuMTY4LjEuMjAiLCJraW5kIjoibGFuIiwidmlhIjoiV2nigJFGaSJ9XX0="
    private static let key =
        "BGD+1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p+2eQP+EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk="
    private static let signature =
        "MEUCIQDZG64U47EPcOFYTBMxRt/cf4So4U797Mr+ZyjJ+orJAAIgevJU/6IWj3kqZYBiz7WeM44qHc9ANcJ7j9eK6NJ6T1w="

    private static let decoded = HostInfo(
        macID: "B9X7HK54M3T21PDW", name: "Mac mini", issuedAt: 1_790_265_600.5, remoteAccess: true,
        remotePort: 7455,
        internet: false,
        addresses: [
            HostAddress(host: "mac-mini.tail1234.ts.net", kind: "vpn", via: "Tailscale"),
            HostAddress(host: "100.101.102.103", kind: "vpn", via: "Tailscale"),
            HostAddress(host: "fd7a:115c:a1e0::1234", kind: "vpn", via: "Tailscale"),
            HostAddress(host: "192.168.1.20", kind: "lan", via: "Wi\u{2011}Fi"),
        ])

    private static func outer(_ info: String, _ key: String, _ signature: String) -> [UInt8] {
        Array(#"{"sig":"\#(signature)","key":"\#(key)","info":"\#(info)"}"#.utf8)
    }

    @Test func vectorDecodes() throws {
        let signed = try SignedHostInfo(payload: Self.outer(Self.info, Self.key, Self.signature))
        #expect(signed.info.count == 386)
        #expect(
            Hex.encode(signed.key)
                == "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
                + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299")
        #expect(signed.signature.count == 71)
        #expect(signed.signature.first == 0x30)
        #expect(try HostInfo(payload: signed.info) == Self.decoded)
        #expect(try SignedHostInfo(payload: signed.encode()) == signed)
    }

    /// Sill's encoder wrote the vector in the order of the table, and so do we.
    @Test func vectorEncodes() throws {
        #expect(Base64.encode(Self.decoded.encode()) == Self.info)
        let signed = try SignedHostInfo(payload: Self.outer(Self.info, Self.key, Self.signature))
        let text = String(decoding: signed.encode(), as: UTF8.self)
        #expect(text == #"{"info":"\#(Self.info)","key":"\#(Self.key)","sig":"\#(Self.signature)"}"#)
    }

    @Test func escapedSlashesAreRead() throws {
        let escaped = Self.signature.split(separator: "/", omittingEmptySubsequences: false).joined(
            separator: "\\/")
        let plain = try SignedHostInfo(payload: Self.outer(Self.info, Self.key, Self.signature))
        #expect(try SignedHostInfo(payload: Self.outer(Self.info, Self.key, escaped)) == plain)
    }

    @Test(arguments: [
        ("AQ", "AQ==", "AQ=="), ("AQ==", "_-8=", "AQ=="), ("AQ==", "AQ==", "AR=="),
        ("AQ==", "AQ==\\n", "AQ=="),
    ])
    func outerFieldsAreStrictBase64(info: String, key: String, signature: String) {
        #expect(throws: JSONError.self) { try SignedHostInfo(payload: Self.outer(info, key, signature)) }
    }

    @Test(arguments: ["", "{}", #"{"info":"","key":""}"#, #"{"info":1,"key":"","sig":""}"#])
    func outerRefuses(text: String) {
        #expect(throws: JSONError.self) { try SignedHostInfo(payload: Array(text.utf8)) }
    }

    @Test func portsAreWrittenWhenTheyDiffer() throws {
        var info = Self.decoded
        info.addresses = [HostAddress(host: "203.0.113.7", port: 17455, kind: "internet", via: "Router")]
        let text = String(decoding: info.encode(), as: UTF8.self)
        #expect(text.contains(#"{"host":"203.0.113.7","port":17455,"kind":"internet","via":"Router"}"#))
        #expect(try HostInfo(payload: info.encode()) == info)
    }

    @Test func innerRefusesAndNamesTheField() throws {
        let text = String(decoding: Self.decoded.encode(), as: UTF8.self)
        for (part, replacement, field) in [
            ("\"v\":1,", "", "v"), ("7455", "7455.5", "remotePort"), ("7455", "\"7455\"", "remotePort"),
            ("true", "1", "remoteAccess"), ("\"issuedAt\":1790265600.5", "\"issuedAt\":\"x\"", "issuedAt"),
            ("\"host\":\"100.101.102.103\",", "", "addresses[1].host"), ("\"lan\"", "3", "addresses[3].kind"),
            ("\"internet\":false", "\"internet\":null", "internet"),
        ] {
            let parts = text.split(separator: part, maxSplits: 1, omittingEmptySubsequences: false)
            let changed = parts.joined(separator: replacement)
            #expect(changed != text)
            #expect {
                try HostInfo(payload: Array(changed.utf8))
            } throws: {
                ($0 as? JSONError)?.field == field
            }
        }
    }

    @Test func laterKindsAndFieldsDecode() throws {
        let text = #"""
            {"v":2.0,"macID":"x","name":"","issuedAt":0,"remoteAccess":false,"remotePort":1,"internet":true,"new":[],
            "addresses":[{"host":"h","kind":"satellite","via":"","port":null,"cost":3}]}
            """#
        let info = try HostInfo(payload: Array(text.utf8))
        #expect(info.version == 2)
        #expect(info.addresses == [HostAddress(host: "h", kind: "satellite", via: "")])
    }
}
