// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import DeviceCLI
@testable import LatchkeyDevice

/// The home network comes first when a saved host is dialled (06 B2, B4).
@Suite("Where the network lists a host")
struct ListedSearchTests {
    private static func row(
        _ id: String, _ hostID: String?, _ endpoint: String, isTLS: Bool = true, isPeerToPeer: Bool = false
    ) -> BrowsedRow {
        BrowsedRow(
            row: ListedRow(id: id, name: id, hostID: hostID, isPeerToPeer: isPeerToPeer, isTLS: isTLS),
            endpoints: (try? Endpoint(endpoint)).map { [$0] } ?? [])
    }

    struct Course: Sendable, CustomTestStringConvertible {
        let name: String
        let news: [ListedSearch.News]
        /// Whether each was enough.
        let isEnough: [Bool]
        let places: [String]
        var testDescription: String { name }
    }

    static let home = row("home", "H", "192.168.1.20:7400")
    static let nearby = row("nearby", "H", "192.168.49.1:7400", isPeerToPeer: true)

    static let courses: [Course] = [
        Course(name: "listed", news: [.rows([home])], isEnough: [true], places: ["192.168.1.20:7400"]),
        Course(
            name: "strangers, another host, a plain door",
            news: [
                .rows([
                    row("x", nil, "192.168.1.9:1"), row("o", "O", "192.168.1.8:1"),
                    row("p", "H", "192.168.1.7:1", isTLS: false),
                ]), .status(.searching), .status(.complete),
            ], isEnough: [false, false, true], places: []),
        Course(
            name: "nearby waits for the network",
            news: [.rows([nearby]), .rows([nearby, home])], isEnough: [false, true],
            places: ["192.168.1.20:7400", "192.168.49.1:7400"]),
        Course(
            name: "nearby alone", news: [.rows([nearby]), .timeIsUp], isEnough: [false, true],
            places: ["192.168.49.1:7400"]),
        Course(name: "no Avahi", news: [.status(.noAvahi)], isEnough: [true], places: []),
        Course(name: "no bus", news: [.status(.noBus("none"))], isEnough: [true], places: []),
        Course(
            name: "gone again", news: [.rows([nearby]), .rows([]), .status(.complete)],
            isEnough: [false, false, true], places: []),
    ]

    @Test("what is enough, and what is dialled", arguments: courses)
    func course(_ course: Course) {
        var search = ListedSearch(hostID: "H")
        var enough: [Bool] = []
        for item in course.news { enough.append(search.take(item)) }
        #expect(enough == course.isEnough)
        #expect(search.places.map(\.endpoint.description) == course.places)
        #expect(search.places.allSatisfy { $0.door == .home && !$0.isSaved })
    }

    @Test("a saved stream is what came, and says when it is not whole")
    func saved() throws {
        let directory = NSTemporaryDirectory() + "latchkey-stream-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/stream"
        let saved = try SavedStream(path: path)
        saved.add(SessionMessage(kind: 1, timestamp: 0, isKeyframe: true, payload: [7, 8]))
        saved.add(SessionMessage(kind: 22, timestamp: 1, isKeyframe: false, payload: []))
        #expect(saved.problem == nil)
        let bytes = try Array(Data(contentsOf: URL(filePath: path)))
        #expect(
            bytes == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 7, 8]
                + [22, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        let full = try SavedStream(path: "/dev/full")
        full.add(SessionMessage(kind: 1, timestamp: 0, isKeyframe: true, payload: [7]))
        #expect(full.problem?.code == .storage)
        #expect(throws: DeviceError.self) { try SavedStream(path: directory + "/none/stream") }
    }
}
