// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import Wire

/// What list, show, rename, remove, settings and set need: the running service, or its state directory while
/// it is down (spec 09 point 32).
protocol Desk {
    /// All paired devices.
    func devices() throws -> ItemList<Device>
    /// The devices that `reference` might mean, so that not every list is read for one device.
    func candidates(for reference: DeviceReference) throws -> [Device]
    /// One device, by its whole ID.
    func device(_ id: String) throws -> Reply<Device>
    func rename(_ id: String, to name: String) throws -> Reply<Device>
    func remove(_ id: String) throws -> Reply<DeviceRemoved>
    func settings() throws -> Reply<SettingsBody>
    /// Changes all settings named in `values`, or none.
    func change(settings values: JSON) throws -> Reply<SettingsBody>
}

/// The desk of a running service.
struct ServiceDesk: Desk {
    let client: Client

    func devices() throws -> ItemList<Device> { try client.devices() }

    func candidates(for reference: DeviceReference) throws -> [Device] {
        var found: [Device] = []
        if let prefix = reference.idPrefix {
            do {
                found.append(try client.device(prefix).value)
                if reference.isWholeID { return found }
            } catch {
                guard case .refused(let problem) = error else { throw error }
                // All that fit are wanted whole; the answer's candidates are IDs and names alone.
                if problem.code == "ambiguousDevice" { return try client.devices().items }
                // No ID begins so; it may still be a name.
                guard problem.status == 404 else { throw error }
            }
        }
        return found + (try client.devices(named: reference.text).items)
    }

    func device(_ id: String) throws -> Reply<Device> { try client.device(id) }

    func rename(_ id: String, to name: String) throws -> Reply<Device> { try client.rename(id, to: name) }

    func remove(_ id: String) throws -> Reply<DeviceRemoved> { try client.remove(id) }

    func settings() throws -> Reply<SettingsBody> { try client.settings() }

    func change(settings values: JSON) throws -> Reply<SettingsBody> { try client.change(settings: values) }
}
