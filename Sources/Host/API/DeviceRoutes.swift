// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Store
internal import Wire

/// The paired devices: list, show, rename, remove.
enum DeviceRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/devices", .host) { request, responder in
                responder.send(try page(services, request))
            },
            APIRoute(.get, "/v1/devices/{id}", .host) { request, responder in
                let record = try find(services, request.parameter(0))
                responder.send(device(services, record))
            },
            APIRoute(.patch, "/v1/devices/{id}", .admin) { request, responder in
                let name = try request.json().requiredString("name")
                let record = try find(services, request.parameter(0))
                services.propose(.rename(record.id, name), request, responder) { outcome in
                    guard case .renamed(let record) = outcome else { return nil }
                    return .object(device(services, record))
                }
            },
            APIRoute(.delete, "/v1/devices/{id}", .admin) { request, responder in
                let record = try find(services, request.parameter(0))
                services.propose(.remove(record.id), request, responder) { outcome in
                    guard case .removed(let closedSessions) = outcome else { return nil }
                    return .object(DeviceRemoved(closedSessions: closedSessions))
                }
            },
        ]
    }

    /// How many devices a 409 names.
    private static let candidateLimit = 10
    /// The shortest beginning of an ID that may stand for it (spec 07).
    private static let prefixLength = 4

    /// The device whose ID begins so. Throws a 404, or a 409 with those it could be.
    static func find(_ services: APIServices, _ prefix: String) throws(Problem) -> DeviceRecord {
        guard prefix.utf8.count >= prefixLength else { throw APIProblems.deviceNotFound }
        // People type IDs; their letters are all capitals.
        let found = services.core.enter { core, _ in
            core.devices(prefix: prefix.uppercased(), limit: candidateLimit)
        }
        guard let first = found.first else { throw APIProblems.deviceNotFound }
        if found.count > 1 { throw APIProblems.ambiguousDevice(found) }
        return first
    }

    static func device(_ services: APIServices, _ record: DeviceRecord) -> Device {
        Device(
            record, connected: services.core.enter { core, _ in core.connectedCount(record.fingerprint) })
    }

    private static func page(_ services: APIServices, _ request: Request) throws -> DevicePage {
        let limit = try request.limit()
        var sort = DeviceSort.name
        if let text = request.text("sort") {
            guard let known = DeviceSort(rawValue: text) else {
                throw APIProblems.invalid("sort", "sort must be name, pairedAt or lastSeenAt")
            }
            sort = known
        }
        let order = sort
        let page = try StoreError.mapped { () throws(StoreError) in
            try services.store.devices(
                sort: order, filter: request.text("q"), after: request.after, limit: limit)
        }
        let counts = services.core.enter { core, _ in
            page.items.map { core.connectedCount($0.fingerprint) }
        }
        return DevicePage(
            items: zip(page.items, counts).map { Device($0, connected: $1) }, next: page.next)
    }
}
