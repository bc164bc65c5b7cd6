// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Wire

/// Where gateways keep their descriptions, while the process lives (09.37). A few of the newest.
final class DescriptionMemory: Sendable {
    private static let limit = 4
    private let places = Mutex<[WebLocation]>([])

    /// The gateway's, if it was seen.
    func place(of gateway: IPAddress?) -> WebLocation? {
        places.withLock { $0.first { $0.address.ip == gateway } }
    }

    /// The gateway's newest.
    func remember(_ place: WebLocation) {
        places.withLock { places in
            places.removeAll { $0.address.ip == place.address.ip }
            places.insert(place, at: 0)
            places = Array(places.prefix(Self.limit))
        }
    }
}
