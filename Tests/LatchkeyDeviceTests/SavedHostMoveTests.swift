// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Testing
import Wire

@testable import LatchkeyDevice

/// Nobody but the saved host moves a saved host (01 section 6.4, 06 B1): from the bytes of a kind 18 to the record.
@Suite("Saved hosts stay put")
struct SavedHostMoveTests {
    /// Keys are what is slow here.
    static let keys = Result { (host: try HostKey.generate(), other: try HostKey.generate()) }

    static func saved(_ key: HostKey) throws -> SavedHostList {
        var host = try #require(
            SavedHost(
                fingerprint: key.fingerprint.base64url, name: "Desk",
                recognitionKey: [UInt8](repeating: 1, count: 32), remotePort: 7455,
                addresses: [SavedAddress(host: "1.0.0.1", port: nil, kind: "internet", via: "")], pairedAt: 1,
                method: "qr"))
        host.infoIssuedAt = 100
        host.typedAddresses = [SavedAddress(host: "10.0.0.5", port: 41000, kind: "lan", via: "")]
        host.lastWorked = "1.0.0.1|7455"
        var list = SavedHostList()
        list.add(host)
        return list
    }

    static func signed(
        _ signer: HostKey, issuedAt: Double = 101, macID: String? = nil,
        change: (inout [UInt8]) -> Void = { _ in }
    ) throws -> [UInt8] {
        let info = HostInfo(
            macID: macID ?? signer.fingerprint.id.text, name: "Moved", issuedAt: issuedAt, remoteAccess: true,
            remotePort: 9999, internet: true,
            addresses: [HostAddress(host: "6.6.6.6", kind: "internet", via: "Router")]
        ).encode()
        var said = info
        change(&said)
        return try SignedHostInfo(info: said, key: signer.point, signature: signer.sign(info)).encode()
    }

    /// What a session whose TLS showed `key` makes of a payload.
    static func take(_ payload: [UInt8], from key: HostKey, into list: inout SavedHostList) -> Bool {
        guard let verified = HostInfoCheck.verify(payload: payload, session: key.fingerprint) else {
            return false
        }
        return list.apply(verified, keepLoopback: false)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var issuedAt = 101.0
        /// Signed by another key, and by whose connection it comes.
        var isSignedByOther = false
        var isOnOthersConnection = false
        /// Names the saved host whoever signs.
        var namesHost = false
        /// Changed after it was signed.
        var isTampered = false
        var isTaken = false
        /// It is the word of the connection's own host, whatever the saved one makes of it.
        var holds = false
    }

    static let rows: [Row] = [
        Row(testDescription: "newer, its own, on its own connection", isTaken: true, holds: true),
        Row(testDescription: "replayed", issuedAt: 100, holds: true),
        Row(testDescription: "older", issuedAt: 99.999, holds: true),
        Row(testDescription: "from before all time", issuedAt: -1, holds: true),
        Row(testDescription: "changed after it was signed", isTampered: true),
        Row(testDescription: "another host's on the host's connection", isSignedByOther: true),
        Row(testDescription: "the host's, replayed by another", isOnOthersConnection: true),
        Row(
            testDescription: "another's in the host's name, on its own connection", isSignedByOther: true,
            isOnOthersConnection: true, namesHost: true),
        Row(
            testDescription: "another's in its own name, on its own connection", isSignedByOther: true,
            isOnOthersConnection: true, holds: true),
    ]

    @Test("kind 18 and the record", arguments: rows)
    func moves(_ row: Row) throws {
        let keys = try Self.keys.get()
        var list = try Self.saved(keys.host)
        let before = list
        let payload = try Self.signed(
            row.isSignedByOther ? keys.other : keys.host, issuedAt: row.issuedAt,
            macID: row.namesHost ? keys.host.fingerprint.id.text : nil
        ) { info in
            if row.isTampered {
                info = Array(String(decoding: info, as: UTF8.self).replacing("Moved", with: "Mowed").utf8)
            }
        }
        let session = row.isOnOthersConnection ? keys.other : keys.host
        let holds = HostInfoCheck.verify(payload: payload, session: session.fingerprint) != nil
        #expect(holds == row.holds)
        let taken = Self.take(payload, from: session, into: &list)
        #expect(taken == row.isTaken)
        #expect((list == before) == !row.isTaken)
        guard row.isTaken, let host = list.hosts.first else { return }
        #expect(host.name == "Moved" && host.remotePort == 9999 && host.addresses.map(\.host) == ["6.6.6.6"])
        // What a person typed, and what worked, stay.
        #expect(host.typedAddresses.map(\.host) == ["10.0.0.5"] && host.lastWorked == "1.0.0.1|7455")
        // The same again is a replay.
        #expect(!Self.take(payload, from: keys.host, into: &list))
    }

    @Test("two saved hosts: each moves itself alone")
    func two() throws {
        let keys = try Self.keys.get()
        var list = try Self.saved(keys.host)
        for host in try Self.saved(keys.other).hosts { list.add(host) }
        let payload = try Self.signed(keys.other)
        #expect(!Self.take(payload, from: keys.host, into: &list))
        #expect(Self.take(payload, from: keys.other, into: &list))
        #expect(list.hosts.map(\.name) == ["Desk", "Moved"])
    }

    @Test("a dial of an old record that meets the new key of its host goes on as the new one")
    func setUpAgain() async throws {
        let old = try HostKey.generate()
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            try link.send(.hostInfo, link.hostInfo(name: "Again", issuedAt: 7))
            _ = try link.next(.clientStats)
        })
        let test = try TemporaryDevice()
        func record(_ key: HostKey, pairedAt: Double, port: Int) throws -> SavedHost {
            try #require(
                SavedHost(
                    fingerprint: key.fingerprint.base64url, name: "Desk",
                    recognitionKey: [UInt8](repeating: 1, count: 32), remotePort: port,
                    addresses: [SavedAddress(host: "127.0.0.1", port: nil, kind: "lan", via: "")],
                    pairedAt: pairedAt, method: "qr"))
        }
        var before = try record(old, pairedAt: 1, port: Int(host.port))
        before.typedAddresses = [SavedAddress(host: "a.example", port: nil, kind: "internet", via: "")]
        let (saved, after) = (before, try record(host.key, pairedAt: 2, port: 7455))
        try test.device.store.change {
            $0.add(saved)
            $0.add(after)
        }
        let place = try DialCandidate(saved.addresses[0], of: saved)
        let session = try await test.device.connect(to: saved, at: [place])
        #expect(session.host.id == after.id)
        await session.close()
        let hosts = try test.device.hosts()
        #expect(hosts.map(\.id) == [after.id])
        #expect(hosts.first?.typedAddresses.map(\.host) == ["a.example"])
        #expect(hosts.first?.lastWorked == "127.0.0.1|\(host.port)")
        // A record that was paired before says nothing of a later one.
        let third = try record(try HostKey.generate(), pairedAt: 3, port: Int(host.port))
        try test.device.store.change { $0.add(third) }
        let again = await failure {
            try await test.device.connect(to: third, at: [try DialCandidate(third.addresses[0], of: third)])
        }
        #expect(again?.code == .noAnswer)
        #expect(try test.device.hosts().count == 2)
    }
}
