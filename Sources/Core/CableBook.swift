// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// Which keys are bound to which device's cable (04 §6), those included whose record is on its way to the store: of two
/// asks of one device at once only one pairs by itself.
struct CableBook: Sendable {
    private var bound: [String: Set<Fingerprint>] = [:]
    private var reserved: [String: Set<Fingerprint>] = [:]

    init(_ devices: [DeviceRecord]) {
        for record in devices { replace(nil, by: record) }
    }

    /// A record became another one; nil for none.
    mutating func replace(_ old: DeviceRecord?, by new: DeviceRecord?) {
        if let old, let cable = old.cableDevice { Self.remove(old.fingerprint, from: &bound, cable) }
        if let new, let cable = new.cableDevice { bound[cable, default: []].insert(new.fingerprint) }
    }

    /// Whether another key has, or is about to have, this device's cable.
    func hasOther(_ cable: String, than key: Fingerprint) -> Bool {
        [bound[cable], reserved[cable]].contains { keys in keys?.contains { $0 != key } ?? false }
    }

    /// Whether a commit that binds the key is on its way.
    func isReserved(_ cable: String, by key: Fingerprint) -> Bool { reserved[cable]?.contains(key) ?? false }

    /// Until the store has answered.
    mutating func reserve(_ cable: String, for key: Fingerprint) {
        reserved[cable, default: []].insert(key)
    }

    /// The store has answered.
    mutating func release(_ cable: String, of key: Fingerprint) { Self.remove(key, from: &reserved, cable) }

    private static func remove(
        _ key: Fingerprint, from table: inout [String: Set<Fingerprint>], _ cable: String
    ) {
        table[cable]?.remove(key)
        if table[cable]?.isEmpty == true { table[cable] = nil }
    }
}
