// SPDX-License-Identifier: Apache-2.0

import APITypes
import Testing

@testable import AdminCLI

@Suite("Naming a device")
struct DeviceReferenceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        /// The ID that is meant; nil for none.
        let id: String?
        var exit = ExitCode.done
        var testDescription: String { text }
    }

    static let rows = [
        Row(text: "7K3QABCDEFGH2345", id: "7K3QABCDEFGH2345"), Row(text: "7k3qab", id: "7K3QABCDEFGH2345"),
        Row(text: "Anna's iPad", id: "7K3QABCDEFGH2345"), Row(text: "anna's ipad", id: nil, exit: .notFound),
        Row(text: "7K3Q", id: nil, exit: .ambiguous), Row(text: "7K3", id: nil, exit: .notFound),
        Row(text: "", id: nil, exit: .notFound), Row(text: "Phone", id: nil, exit: .ambiguous),
        Row(text: "7K3QZ", id: "7K3QZZZZZZZZ0000"), Row(text: "FFFF", id: nil, exit: .notFound),
        // A name that is also the start of another device's ID.
        Row(text: "9999", id: nil, exit: .ambiguous),
        // A whole ID is never a name.
        Row(text: "9999ZZZZZZZZ0000", id: "9999ZZZZZZZZ0000"),
    ]

    static func devices() throws -> [Device] {
        var named = try Fixtures.read(Device.self, Fixtures.phone)
        named.id = "ABCDABCDABCDABCD"
        named.name = "9999"
        var posing = named
        posing.id = "EEEEABCDABCDABCD"
        posing.name = "9999ZZZZZZZZ0000"
        return try [Fixtures.ipad, Fixtures.phone, Fixtures.secondPhone].map {
            try Fixtures.read(Device.self, $0)
        } + [named, posing]
    }

    @Test("finds", arguments: rows)
    func finds(_ row: Row) throws {
        do {
            #expect(try DeviceReference(row.text).find(in: Self.devices()).id == row.id)
        } catch let failure as Failure {
            #expect(failure.exit == row.exit)
            if row.exit == .ambiguous { #expect(failure.advice.count == 2) }
        }
    }
}
