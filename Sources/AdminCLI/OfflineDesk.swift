// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LatchkeyClient
internal import Policy
internal import Sockets
internal import StateDirectory
internal import Terminal
internal import Wire

/// The desk while the service is down: its state directory, held under its lock, with the service's own rules
/// and audit rows (spec 09 point 32).
final class OfflineDesk: Desk {
    private var offline: OfflineCore
    private let fallbackName: String

    private init(_ opened: OpenedState) {
        let name = hostName()
        fallbackName = name.isEmpty ? "Linux" : name
        offline = OfflineCore(opened, fallbackName: fallbackName, moment: Self.moment)
    }

    /// Closed when the command ends.
    deinit { offline.directory.close() }

    /// Takes the directory; nil when no service ever kept its state there. Throws `Failure` when it cannot be
    /// used.
    static func open(_ path: String) throws(Failure) -> OfflineDesk? {
        guard fileFacts(path + "/latchkey.db") != nil else { return nil }
        do {
            return OfflineDesk(try StateDirectory.open(path: path, for: .commandLine, now: wallNow()))
        } catch {
            // A running service holds it: then only its socket was not found.
            let advice =
                error.exitCode == .held
                ? ["If that is latchkeyd, name its socket with --socket RUNTIME/api.sock."] : []
            throw Failure(.refused, error.message, advice: advice)
        }
    }

    func devices() throws -> ItemList<Device> {
        let devices = allRecords().map(DeviceShape.device)
        return ItemList(items: devices, json: try devices.map { try JSON.parse($0.jsonBytes) })
    }

    func candidates(for reference: DeviceReference) throws -> [Device] {
        var records = offline.core.devices(named: reference.text)
        if let prefix = reference.idPrefix { records += offline.core.devices(prefix: prefix, limit: 1000) }
        return records.map(DeviceShape.device)
    }

    func device(_ id: String) throws -> Reply<Device> { Self.reply(DeviceShape.device(try record(id))) }

    func rename(_ id: String, to name: String) throws -> Reply<Device> {
        guard case .renamed(let record) = try apply(.rename(try record(id).id, name)) else {
            throw Self.surprise
        }
        return Self.reply(DeviceShape.device(record))
    }

    func remove(_ id: String) throws -> Reply<DeviceRemoved> {
        guard case .removed(let closed) = try apply(.remove(try record(id).id)) else { throw Self.surprise }
        return Self.reply(DeviceRemoved(closedSessions: closed))
    }

    func settings() throws -> Reply<SettingsBody> {
        Self.reply(SettingsShape.body(offline.core.storedSettings, fallbackName: fallbackName))
    }

    func change(settings values: JSON) throws -> Reply<SettingsBody> {
        let change: Change
        do {
            change = try offline.core.settingsChange { (settings) throws(SettingRefusal) in
                settings = try Settings.patch(values, on: settings)
            }
        } catch {
            throw Failure(
                Problem(400, "invalidSetting", "Invalid setting", detail: error.message, field: error.field))
        }
        guard case .settings = try apply(change) else { throw Self.surprise }
        return try settings()
    }

    /// All devices by name, as the service lists them.
    private func allRecords() -> [DeviceRecord] {
        var records: [DeviceRecord] = []
        while true {
            let page = offline.core.devices(after: records.last?.id, limit: 1000)
            records += page
            if page.count < 1000 { break }
        }
        return records.sorted { ($0.name.lowercased(), $0.id.text) < ($1.name.lowercased(), $1.id.text) }
    }

    private func record(_ id: String) throws(Failure) -> DeviceRecord {
        guard let id = SillID(id), let record = offline.core.device(id) else {
            throw Failure(.notFound, "no paired device is \"\(id)\"")
        }
        return record
    }

    private func apply(_ change: Change) throws(Failure) -> ChangeOutcome {
        switch offline.apply(change, actor: Actor(text: "unix:\(userID())"), Self.moment) {
        case .done(.failed(let message)):
            throw Failure(Problem(503, "storeUnavailable", "Store unavailable", detail: message))
        case .done(let outcome): return outcome
        case .refused(.deviceNotFound): throw Failure(.notFound, "that device is not paired any more")
        case .refused(.emptyName):
            throw Failure(.refused, "nothing is left of that name once it is cleaned")
        case .refused: throw Self.surprise
        }
    }

    private static func reply<Body: APIObject>(_ value: Body) -> Reply<Body> {
        Reply(value: value, body: value.jsonBytes)
    }

    private static var moment: Moment { Moment(now: monotonicNow(), wall: wallNow()) }

    /// An answer that fits no question of ours.
    private static let surprise = Failure(.refused, "the state directory took no change")
}
