// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import Store

/// A directory of a test's own, removed when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "latchkey-store-" + UUID().uuidString
        try makeDirectory(path, mode: 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Where a test's database goes.
    var database: String { path + "/latchkey.db" }
}

/// A device whose key is made from a number.
func device(_ number: UInt32, name: String? = nil, seen: Int64? = nil) throws -> DeviceRecord {
    DeviceRecord(
        fingerprint: try key(number), name: name ?? "Device \(number)",
        model: number % 2 == 0 ? "iPad14,1" : nil,
        pairedAt: WallTime(milliseconds: 1_700_000_000_000 + Int64(number)), pairedHow: "qr",
        lastSeenAt: seen.map(WallTime.init(milliseconds:)), lastRoute: seen == nil ? nil : "on this network")
}

/// A key made from a number, spread over all bytes so that IDs do not sort by the number.
func key(_ number: UInt32) throws -> Fingerprint {
    var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
    let bytes = (0..<32).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
    return try #require(Fingerprint(bytes: bytes))
}

func audit(_ action: String, device: String? = nil, at time: Int64 = 1) -> AuditRow {
    AuditRow(
        at: WallTime(milliseconds: time), actor: "unix:0", action: action, device: device, outcome: "ok",
        detail: nil)
}

extension Store {
    /// One change without audit rows.
    func apply(_ change: StoreChange, requirePairing: RequirePairingText? = nil) throws(StoreError) {
        try perform(StoreCommit(change: change, audit: []), requirePairing: requirePairing)
    }
}

/// The error of a call that must fail.
func failure<R>(_ body: () throws(StoreError) -> R) -> StoreError? {
    do throws(StoreError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}
