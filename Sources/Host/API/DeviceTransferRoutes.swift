// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Store
internal import Wire

/// Moving devices to another machine: JSON Lines out and in (spec 09.26).
enum DeviceTransferRoutes {
    /// What an import may weigh.
    static let importLimit = 64 << 20
    /// What is read on the server's own thread; more goes aside.
    private static let smallImport = 64 << 10
    /// Devices read from the store at once.
    private static let exportPage = 1000

    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.post, "/v1/devices/import", .admin, bodyLimit: importLimit) { request, responder in
                let restoreRemoved = try request.flag("restoreRemoved")
                let work: @Sendable () -> Void = {
                    importDevices(services, request, restoreRemoved: restoreRemoved, responder)
                }
                if request.body.count <= smallImport { work() } else { services.aside(work) }
            },
            APIRoute(.get, "/v1/devices/export", .admin) { _, responder in
                services.aside {
                    do throws(StoreError) {
                        responder.send(Answer(200, .jsonLines, try export(services.store)))
                    } catch {
                        responder.refuse(APIProblems.reading(error))
                    }
                }
            },
        ]
    }

    private static func importDevices(
        _ services: APIServices, _ request: Request, restoreRemoved: Bool, _ responder: Responder
    ) {
        do {
            let records = try DeviceLines.parse(request.body, now: services.now().wall)
            let change = Change.importDevices(records, restoreRemoved: restoreRemoved)
            services.propose(change, request, responder) { outcome in
                guard case .imported(let imported, let updated, let skipped) = outcome else { return nil }
                return .object(
                    ImportResult(
                        imported: imported, updated: updated, removedSkipped: skipped.map(\.text)))
            }
        } catch {
            responder.refuse(error)
        }
    }

    private static func export(_ store: Store) throws(StoreError) -> [UInt8] {
        var lines: [UInt8] = []
        var after: String?
        repeat {
            let page = try store.devices(sort: .pairedAt, filter: nil, after: after, limit: exportPage)
            for record in page.items { DeviceLines.append(record, to: &lines) }
            after = page.next
        } while after != nil
        return lines
    }
}

/// One device a line. What ties a device to this machine (the USB serial) and what is secret never leaves it.
enum DeviceLines {
    /// Bytes of one line, dozens of times what a device is. A line is read as a whole, and weighs many times its text.
    static let longest = 64 << 10

    /// Adds one line.
    static func append(_ record: DeviceRecord, to lines: inout [UInt8]) {
        var line = JSONWriter()
        line.object { line in
            line.field("fingerprint", record.fingerprint.base64url)
            line.field("name", record.name)
            line.field("model", ifPresent: record.model)
            line.field("pairedAt", record.pairedAt.rfc3339)
            line.field("pairedHow", record.pairedHow)
            line.field("lastSeenAt", ifPresent: record.lastSeenAt?.rfc3339)
            line.field("lastRoute", ifPresent: record.lastRoute)
        }
        lines += line.bytes
        lines.append(UInt8(ascii: "\n"))
    }

    /// All lines; blank ones are passed over, and of two for one key the later one counts. Throws a 400 with the number
    /// of the first bad line.
    static func parse(_ body: [UInt8], now: WallTime) throws(Problem) -> [DeviceRecord] {
        var records: [DeviceRecord] = []
        var places: [Fingerprint: Int] = [:]
        var number = 0
        var rest = body[...]
        // One line at a time: a list of them all would weigh many times what 64 MiB of short lines do.
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            number += 1
            guard line.contains(where: { !isSpace($0) }) else { continue }
            guard line.count <= longest else {
                throw APIProblems.invalid("line", "line \(number): a line holds at most \(longest) bytes")
            }
            let record: DeviceRecord
            do {
                record = try device(Array(line), now: now)
            } catch {
                var detail = error.message
                if let field = error.field, !detail.contains(field) { detail = "\(field) \(detail)" }
                throw APIProblems.invalid(error.field ?? "line", "line \(number): \(detail)")
            }
            if let place = places[record.fingerprint] {
                records[place] = record
            } else {
                places[record.fingerprint] = records.count
                records.append(record)
            }
        }
        return records
    }

    private static func device(_ line: [UInt8], now: WallTime) throws(JSONError) -> DeviceRecord {
        let json = try JSON.parse(line)
        guard case .object = json else { throw JSONError(field: nil, message: "it must be a JSON object") }
        guard let fingerprint = Fingerprint(base64url: try json.requiredString("fingerprint")) else {
            throw JSONError(field: "fingerprint", message: "fingerprint must be 32 bytes in base64url")
        }
        let name = Label.clean(try json.requiredString("name"))
        if name.isEmpty { throw JSONError(field: "name", message: "name must hold a visible character") }
        let model = try json.optionalString("model").map { Label.clean($0) }
        // How it was paired elsewhere is that machine's to know; here it was imported.
        _ = try json.optionalString("pairedHow")
        return DeviceRecord(
            fingerprint: fingerprint, name: name, model: model.flatMap { $0.isEmpty ? nil : $0 },
            pairedAt: try time(json, "pairedAt") ?? now, pairedHow: "import", cableDevice: nil,
            lastSeenAt: try time(json, "lastSeenAt"),
            lastRoute: try json.optionalString("lastRoute").map { Label.clean($0) })
    }

    private static func time(_ json: JSON, _ key: String) throws(JSONError) -> WallTime? {
        guard let text = try json.optionalString(key) else { return nil }
        guard let time = WallTime(rfc3339: text) else {
            throw JSONError(field: key, message: "\(key) must be a time such as 2026-11-30T07:14:13.123Z")
        }
        return time
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
