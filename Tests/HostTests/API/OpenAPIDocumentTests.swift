// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Foundation
import LocalAPI
import Policy
import Store
import Testing
import Wire

@testable import Host

@Suite("The API's description")
struct OpenAPIDocumentTests {
    /// The routes of a service that does nothing.
    private static func routes(_ directory: String, metricsOpen: Bool = false) throws -> [APIRoute] {
        let key = try HostKey.generate()
        let start = Moment(now: MonotonicTime(nanoseconds: 0), wall: WallTime(milliseconds: 0))
        let core = SharedCore(
            Core(
                host: HostFacts(
                    fingerprint: key.fingerprint, recognitionKey: [], fallbackName: "Host",
                    startedAt: start.wall,
                    sessionPrefix: "s", bootWall: start.wall, version: "0"),
                settings: Settings(), overrides: SettingsOverrides(), devices: [], tombstones: [],
                primitives: Primitives(hmacSHA256: { _, _ in [] }, equal: { _, _ in false })),
            clock: { start.now }, wall: { start.wall }, carryOut: { _ in })
        var services = APIServices(
            core: core, store: try Store(path: directory + "/latchkey.db", create: true),
            identity: IdentityDesk(
                current: {
                    HostIdentity(
                        fingerprint: key.fingerprint, publicKey: key.point, certificate: [],
                        createdAt: start.wall)
                }, stage: { .failure(APIProblems.stopping) }, abandon: {}),
            hostInfo: { [] }, sign: { _ in [] },
            windowEntropy: { WindowEntropy(id: "w", secret: [], code: "") },
            now: { start }, started: start, events: EventHub(firstID: 1))
        services.isMetricsOpen = metricsOpen
        return APIRoutes.all(services)
    }

    private static func withRoutes(_ body: ([APIRoute]) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("lk-routes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(routes(directory.path))
    }

    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/openapi.json")

    @Test("what is served is docs/openapi.json; if not, run Scripts/embed-openapi")
    func sameBytes() throws {
        #expect(try Array(Data(contentsOf: Self.file)) == OpenAPIDocument.bytes)
    }

    @Test("every route is described with its role, and nothing else is")
    func sameOperations() throws {
        let document = try JSON.parse(OpenAPIDocument.bytes)
        #expect(document["openapi"]?.string == "3.1.0")
        var described: [String: String] = [:]
        for path in document["paths"]?.members ?? [] {
            for operation in path.value.members ?? [] {
                described["\(operation.key.uppercased()) \(path.key)"] = operation.value["x-role"]?.string
            }
        }
        try Self.withRoutes { routes in
            let served = Dictionary(
                uniqueKeysWithValues: routes.map {
                    ("\($0.method.rawValue) \($0.path)", $0.access.rawValue)
                })
            #expect(served == described)
        }
    }

    @Test("every operation says what every caller may get")
    func statuses() throws {
        let document = try JSON.parse(OpenAPIDocument.bytes)
        for path in document["paths"]?.members ?? [] {
            for operation in path.value.members ?? [] {
                let statuses = Set((operation.value["responses"]?.members ?? []).map(\.key))
                #expect(statuses.isSuperset(of: ["401", "403", "405", "413", "431", "500", "503"]))
                if operation.value["requestBody"] != nil { #expect(statuses.contains("400")) }
                if path.key.contains("{id}") { #expect(statuses.contains("404")) }
            }
        }
    }

    @Test("docs/api.md lists every problem code the sources give")
    func problemCodes() throws {
        let root = Self.file.deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/api.md"), encoding: .utf8)
        let pattern = /Problem\(\s*[0-9]+, "([A-Za-z]+)"/
        var found = 0
        for folder in ["Sources/LocalAPI", "Sources/Host/API"] {
            let directory = root.appendingPathComponent(folder)
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                let text = try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
                for match in text.matches(of: pattern) {
                    found += 1
                    #expect(page.contains("`\(match.1)`"), "\(match.1) in \(name)")
                }
            }
        }
        #expect(found > 15)
    }
}
