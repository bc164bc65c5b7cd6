// SPDX-License-Identifier: Apache-2.0

package import Wire

/// The opening that is asked of the router's IPv6 firewall: TCP from anywhere to the remote port (05 B9).
package struct PinholeWish: Sendable, Hashable {
    /// The IPv4 gateway, whose IGD has the firewall service.
    package var gateway: IPAddress
    /// The LAN IPv4 that it is asked from.
    package var lan: IPAddress
    /// The stable global address.
    package var address: IPAddress
    package var port: Int

    package init(gateway: IPAddress, lan: IPAddress, address: IPAddress, port: Int) {
        self.gateway = gateway
        self.lan = lan
        self.address = address
        self.port = port
    }
}

/// A pinhole that the router made.
package struct PinholeGrant: Sendable, Hashable {
    package var wish: PinholeWish
    /// The router's name for it.
    package var id: String
    /// Seconds.
    package var lease: Int
    /// What `CheckPinholeWorking` said; nil when it did not (many wait for traffic first).
    package var isWorking: Bool?

    package init(wish: PinholeWish, id: String, lease: Int, isWorking: Bool?) {
        self.wish = wish
        self.id = id
        self.lease = lease
        self.isWorking = isWorking
    }
}

/// How a request for a pinhole ended.
package enum PinholeOutcome: Sendable, Hashable {
    case open(PinholeGrant)
    case pending
    case refused(String)
    /// The gateway has no such service.
    case notPossible

    package static let openCode = "pinholeOpen"

    /// As reports name it.
    package var code: String {
        switch self {
        case .open: Self.openCode
        case .pending: "pinholePending"
        case .refused: "pinholeRefused"
        case .notPossible: "pinholeNotPossible"
        }
    }
}

/// What may be asked of the IPv6 firewall.
package enum PinholePolicy {
    /// Seconds asked for; 1 to 86400 are allowed.
    package static let lease = 3600

    /// Whether a pinhole has a use: the firewall is on and takes requests, or ours is there already.
    package static func mayAsk(_ code: IPv6Code) -> Bool {
        code == .v6PinholePossible || code == .v6PinholeActive
    }

    /// A router's name for a pinhole: a number of 16 bits; nil for what cannot be sent back.
    package static func id(_ text: String) -> String? {
        let digits = text.utf8.filter { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(String(decoding: digits, as: UTF8.self)), number <= 65535
        else { return nil }
        return "\(number)"
    }
}
