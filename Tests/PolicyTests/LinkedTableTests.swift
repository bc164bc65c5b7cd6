// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

struct LinkedTableTests {
    /// Against a plain list, with random operations.
    @Test func againstAList() {
        var random = Seeded(state: 3)
        var table = LinkedTable<Int, Int>()
        var list: [(Int, Int)] = []
        for step in 0..<20_000 {
            let key = Int.random(in: 0..<40, using: &random)
            let position = list.firstIndex { $0.0 == key }
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                table[key] = step
                if let position { list[position].1 = step } else { list.append((key, step)) }
            case 2:
                table.touch(key)
                if let position { list.append(list.remove(at: position)) }
            default:
                #expect(table.remove(key) == position.map { list[$0].1 })
                if let position { list.remove(at: position) }
            }
            #expect(table.count == list.count)
            #expect(table.first?.key == list.first?.0)
            if step % 100 == 0 {
                #expect(table.keys == list.map(\.0))
                #expect(list.allSatisfy { table[$0.0] == $0.1 })
            }
        }
    }

    @Test(arguments: [
        ("6J56", true), ("6J5657TWXV835GZ8", true), ("6J5", false), ("6J5657TWXV835GZ80", false),
        ("6j56", false), ("6J5I", false), ("", false), ("6J5é", false),
    ])
    func devicePrefixes(_ text: String, _ isOne: Bool) {
        #expect((DeviceIDPrefix(text) != nil) == isOne)
    }

    @Test func aPrefixIsTheFingerprintsFirstBits() throws {
        let bytes = try #require(
            Hex.decode("348a629f5ceed032c3e8706ec47d9bfafb00fb4250b018dd965435ca50cb836e"))
        let key = try #require(Fingerprint(bytes: bytes))
        for length in 4...12 {
            let prefix = try #require(DeviceIDPrefix(String(key.id.text.prefix(length))))
            let bits = UInt64(length * 5)
            #expect(prefix.leadingBits == (key.leadingBits >> (64 - bits)) << (64 - bits))
        }
    }
}
