// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

struct DeviceMapTests {
    /// Against a dictionary, with copies that must not change.
    @Test func againstADictionary() {
        var map = DeviceMap()
        var reference: [Fingerprint: DeviceRecord] = [:]
        var old: [(DeviceMap, [Fingerprint: DeviceRecord])] = []
        for step in 0..<6_000 {
            let word = "k\((step * 7_919) % 1_500)"
            if step % 3 == 2 {
                #expect(map.remove(Driver.key(word)) == reference.removeValue(forKey: Driver.key(word)))
            } else {
                let record = Driver.record(word, name: "n\(step)")
                map.set(record)
                reference[record.fingerprint] = record
            }
            #expect(map.count == reference.count)
            if step % 1_000 == 999 { old.append((map, reference)) }
        }
        for (map, reference) in old {
            for (key, record) in reference {
                #expect(map[key] == record)
                #expect(map.reference(to: key) == DeviceRef(id: record.id, name: record.name))
            }
            #expect(map.reference(to: Driver.key("nobody")) == nil)
            var order: [SillID] = []
            map.forEach {
                order.append($0.id)
                return true
            }
            #expect(order == reference.keys.map(\.id).sorted())
        }
    }

    @Test(arguments: [0, 1, 8, 9, 500]) func madeAtOnceOrOneByOne(_ count: Int) {
        let records = (0..<count).map { Driver.record("k\($0)") }
        let twice = records + records.prefix(3).map { Driver.record($0.name, name: "later") }
        var grown = DeviceMap()
        for record in twice { grown.set(record) }
        let made = DeviceMap(twice)
        #expect(made.count == count && grown.count == count)
        for record in records { #expect(made[record.fingerprint] == grown[record.fingerprint]) }
        #expect(made.contains(Driver.key("k0")) == (count > 0))
    }

    /// A start that is a key's own first bits includes it.
    @Test func fromTheVeryKey() throws {
        let keys = try [UInt8(0), 0x80].map { first in
            try #require(Fingerprint(bytes: [first] + [UInt8](repeating: 0, count: 31)))
        }
        let map = DeviceMap(
            keys.map {
                DeviceRecord(fingerprint: $0, name: "", pairedAt: WallTime(milliseconds: 0), pairedHow: "qr")
            })
        for (index, key) in keys.enumerated() {
            var seen: [Fingerprint] = []
            map.forEach(from: key.leadingBits) {
                seen.append($0.fingerprint)
                return true
            }
            #expect(seen == Array(keys[index...]))
        }
    }

    @Test func prefixesAndPages() {
        let records = (0..<3_000).map { Driver.record("k\($0)") }
        let driver = Driver(devices: records)
        let ids = records.map(\.id).sorted()
        #expect(driver.core.deviceCount == 3_000)
        var pages: [SillID] = []
        while true {
            let page = driver.core.devices(after: pages.last, limit: 700)
            if page.isEmpty { break }
            pages += page.map(\.id)
        }
        #expect(pages == ids)
        for record in records.prefix(12) {
            #expect(driver.core.device(record.id) == record)
            for length in [4, 5, 7, 12, 13, 16] {
                let prefix = String(record.id.text.prefix(length))
                let found = driver.core.devices(prefix: prefix, limit: 10).map(\.id)
                #expect(found == Array(ids.filter { $0.text.hasPrefix(prefix) }.prefix(10)))
            }
        }
        #expect(driver.core.devices(prefix: "abc", limit: 10).isEmpty)
        #expect(driver.core.device(Driver.key("nobody").id) == nil)
        #expect(driver.core.devices(named: "k7").map(\.name) == ["k7"])
    }

    /// What P1b needs: a change copies a few nodes, and the snapshot that was published stays what it was.
    @Test func snapshotsAreImmutable() {
        let driver = Driver(devices: (0..<500).map { Driver.record("k\($0)") })
        let before = driver.core.trust
        driver.remove("k7")
        #expect(before.isPaired(Driver.key("k7")))
        #expect(!driver.core.trust.isPaired(Driver.key("k7")))
        #expect(before.devices.count == 500 && driver.core.trust.devices.count == 499)
    }
}
