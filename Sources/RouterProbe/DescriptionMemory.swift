// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Wire

/// Where gateways keep their descriptions, while the process lives (09.37), and which have just been found to have none. A
/// few of the newest.
final class DescriptionMemory: Sendable {
    private static let limit = 4
    /// How long a gateway that nobody answered at is not searched again for a mapping.
    static let noneHolds: Duration = .seconds(30)

    private struct None: Sendable {
        var gateway: IPAddress
        var lan: IPAddress
        var until: MonotonicTime
    }

    private let places = Mutex<[WebLocation]>([])
    private let none = Mutex<None?>(nil)

    /// The gateway's, if it was seen.
    func place(of gateway: IPAddress?) -> WebLocation? {
        places.withLock { $0.first { $0.address.ip == gateway } }
    }

    /// The gateway's newest.
    func remember(_ place: WebLocation) {
        none.withLock { none in if none?.gateway == place.address.ip { none = nil } }
        places.withLock { places in
            places.removeAll { $0.address.ip == place.address.ip }
            places.insert(place, at: 0)
            places = Array(places.prefix(Self.limit))
        }
    }

    /// A whole search from this address has just found no IGD at the gateway. Of one that has had an IGD a single search
    /// that missed it says little, and its place is known: it is asked again.
    func rememberNone(at gateway: IPAddress, from lan: IPAddress, _ now: MonotonicTime) {
        guard place(of: gateway) == nil else { return }
        none.withLock { $0 = None(gateway: gateway, lan: lan, until: now + Self.noneHolds) }
    }

    /// Whether that is still so.
    func hasNone(at gateway: IPAddress, from lan: IPAddress, _ now: MonotonicTime) -> Bool {
        none.withLock { none in
            none.map { $0.gateway == gateway && $0.lan == lan && now < $0.until } ?? false
        }
    }
}
