// SPDX-License-Identifier: Apache-2.0

import Core
import Foundation
import Policy
import Testing

@testable import Host

/// `endpoints.json` over a service's life (09.28).
@Suite("endpoints.json")
struct EndpointsPublisherTests {
    @Test("a door has an entry only while it listens, and nothing is left after the stop")
    func life() throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("lk-endpoints-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.path + "/endpoints.json"
        let publisher = EndpointsPublisher(directory: directory.path)
        try publisher.apiListens(unix: nil, tcp: ["127.0.0.1:1"])
        try publisher.doorChanged(.home, .listening(port: 2))
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""doors":{"home":2}"#))
        try publisher.doorChanged(.home, .off)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""doors":{}"#))
        publisher.remove()
        // Doors say that they are closed when the service has stopped.
        try publisher.doorChanged(.home, .listening(port: 3))
        try publisher.apiListens(unix: nil, tcp: [])
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
