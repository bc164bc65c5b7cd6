// SPDX-License-Identifier: Apache-2.0

import Policy
import Wire

/// A parsed address; only for texts written in tests.
func ip(_ text: String) -> IPAddress {
    guard let ip = IPAddress(text) else { preconditionFailure("\(text) is no address") }
    return ip
}

func at(_ seconds: Double) -> MonotonicTime { .seconds(seconds) }

func key(_ byte: UInt8) -> Fingerprint {
    guard let key = Fingerprint(bytes: [UInt8](repeating: byte, count: 32)) else {
        preconditionFailure("32 bytes are a fingerprint")
    }
    return key
}

/// A seeded generator, so that a failure can be run again.
struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Table T of 03 §3.5.
let tableT: InterfaceTable = {
    func addresses(_ texts: [(String, Int)]) -> [InterfaceAddress] {
        texts.map { InterfaceAddress(ip: ip($0.0), prefixBits: $0.1) }
    }
    func interface(
        _ index: UInt32, _ name: String, _ kind: InterfaceKind, _ own: [(String, Int)]
    ) -> NetworkInterface {
        NetworkInterface(
            link: LinkFacts(index: index, name: name), kind: kind, addresses: addresses(own))
    }
    return InterfaceTable([
        interface(1, "lo", .loopback, [("127.0.0.1", 8), ("::1", 128)]),
        interface(
            2, "eth0", .lan,
            [("192.168.1.20", 24), ("fd4e:4f6b:37dc:4a0f::20", 64), ("2001:db8:1::20", 64)]),
        interface(3, "usb0", .lan, [("169.254.172.122", 16)]),
        interface(4, "br0", .lan, [("203.0.113.20", 24), ("100.72.0.1", 16)]),
        interface(5, "awdl0", .peerToPeer, []), interface(6, "llw0", .peerToPeer, []),
        interface(7, "tailscale0", .tunnel, [("100.88.123.45", 32), ("fd7a:115c:a1e0::abcd:ef01", 128)]),
        interface(8, "wg0", .tunnel, [("10.99.0.2", 24)]), interface(9, "wwan0", .uplink, []),
    ])
}()
