// SPDX-License-Identifier: Apache-2.0

import Core
import Policy
import Sockets
import Store
import Testing
import Wire

@testable import StateDirectory

@Suite("Changes with the service down")
struct OfflineCoreTests {
    let folder: TemporaryDirectory
    let device: DeviceRecord
    static let actor = Actor(text: "unix:1000", isHostRole: false)
    static let moment = Moment(now: MonotonicTime(nanoseconds: 1), wall: TemporaryDirectory.now)

    init() throws {
        folder = try TemporaryDirectory()
        device = DeviceRecord(
            fingerprint: try #require(Fingerprint(bytes: Array(0..<32))), name: "iPad", model: "iPad14,1",
            pairedAt: TemporaryDirectory.now, pairedHow: "qr")
        let opened = try folder.open()
        let result = opened.directory.committer.commitNow(StoreCommit(change: .pairDevice(device), audit: []))
        #expect(result == .committed)
        opened.directory.close()
    }

    /// Applies one change as the command line does, and lets go of the directory.
    private func apply(_ change: Change) throws -> OfflineCore.Answer {
        let opened = try StateDirectory.open(
            path: folder.state.directory, for: .commandLine, now: TemporaryDirectory.now)
        var offline = OfflineCore(opened, fallbackName: "box", moment: Self.moment)
        let answer = offline.apply(change, actor: Self.actor, Self.moment)
        opened.directory.close()
        return answer
    }

    /// What a later start of the service finds.
    private func reopened<R>(_ body: (OpenedState) throws -> R) throws -> R {
        let opened = try folder.open()
        defer { opened.directory.close() }
        return try body(opened)
    }

    private func lastAudit() throws -> AuditRow? {
        try reopened { try $0.directory.store.audit(limit: 1).items.first?.row }
    }

    @Test("a rename is cleaned, kept and audited")
    func rename() throws {
        var want = device
        want.name = "Kitchen iPad"
        #expect(try apply(.rename(device.id, " Kitchen \n iPad\u{202E}")) == .done(.renamed(want)))
        #expect(try reopened { $0.devices } == [want])
        let row = try #require(try lastAudit())
        #expect(row.action == "device.rename" && row.actor == "unix:1000" && row.outcome == "ok")
        #expect(row.device == device.id.text)
    }

    @Test("a removal leaves a tombstone")
    func remove() throws {
        #expect(try apply(.remove(device.id)) == .done(.removed(closedSessions: 0)))
        try reopened { opened in
            #expect(opened.devices.isEmpty)
            #expect(opened.tombstones.map(\.fingerprint) == [device.fingerprint])
        }
        #expect(try lastAudit()?.action == "device.remove")
    }

    @Test("settings, require pairing signed among them, hold for the service's next start")
    func settings() throws {
        var wanted = Settings()
        wanted.remoteAccess = true
        wanted.requirePairing = false
        wanted.home.bitrate = 20_000_000
        #expect(try apply(.settings(SettingsWish(wanted))) == .done(.settings(wanted)))
        #expect(try reopened { $0.settings } == wanted)
        #expect(try lastAudit()?.action == "settings.change")
        wanted.requirePairing = true
        #expect(try apply(.settings(SettingsWish(wanted))) == .done(.settings(wanted)))
        #expect(try reopened { $0.settings } == wanted)
    }

    @Test("what the core refuses is not written")
    func refused() throws {
        let nobody = try #require(SillID("0123456789ABCDEF"))
        #expect(try apply(.rename(nobody, "x")) == .refused(.deviceNotFound))
        #expect(try apply(.rename(device.id, "\u{200B} ")) == .refused(.emptyName))
        #expect(try apply(.remove(nobody)) == .refused(.deviceNotFound))
        #expect(try reopened { $0.devices } == [device])
        #expect(try lastAudit()?.action == "identity.create")
    }

    @Test("a store that cannot commit changes nothing and says so")
    func failed() throws {
        let opened = try StateDirectory.open(
            path: folder.state.directory, for: .commandLine, now: TemporaryDirectory.now)
        var offline = OfflineCore(opened, fallbackName: "box", moment: Self.moment)
        opened.directory.store.close()
        #expect(
            offline.apply(.remove(device.id), actor: Self.actor, Self.moment)
                == .done(.failed(message: "the store is closed")))
        opened.directory.close()
        #expect(try reopened { $0.devices } == [device])
    }
}
