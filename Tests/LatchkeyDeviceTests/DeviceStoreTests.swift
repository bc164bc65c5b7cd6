import Foundation
import Testing

@testable import LatchkeyDevice

@Suite("Device store")
struct DeviceStoreTests {
    func mode(_ path: String) throws -> Int {
        let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        return try #require(value as? NSNumber).intValue
    }

    @Test("directory, key and hosts are private, and the key stays")
    func permissions() throws {
        let test = try TemporaryDevice()
        try test.device.store.change { $0.add(SavedHostListTests.host(1)) }
        #expect(try mode(test.directory) == 0o700)
        #expect(try mode(test.directory + "/device-key.pem") == 0o600)
        #expect(try mode(test.directory + "/hosts.json") == 0o600)
        let again = try Device(directory: test.directory, name: "Again")
        #expect(again.id == test.device.id)
        #expect(try again.hosts() == test.device.hosts())
    }

    @Test("a key others can read is refused")
    func looseKey() throws {
        let test = try TemporaryDevice()
        let path = test.directory + "/device-key.pem"
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: DeviceError.self) { try Device(directory: test.directory, name: "x") }
    }

    @Test(
        "a key that cannot be read is never replaced",
        arguments: ["", "no key", "-----BEGIN PRIVATE KEY-----\n"])
    func damagedKey(_ text: String) throws {
        let test = try TemporaryDevice()
        let path = test.directory + "/device-key.pem"
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(throws: DeviceError.self) { try Device(directory: test.directory, name: "x") }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test("two devices of one directory do not lose each other's hosts")
    func together() async throws {
        let test = try TemporaryDevice()
        let other = try Device(directory: test.directory, name: "Other")
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let (a, b) = (test.device.store, other.store)
                group.addTask { _ = try? a.change { $0.add(SavedHostListTests.host(UInt8(number))) } }
                group.addTask { _ = try? b.change { $0.add(SavedHostListTests.host(UInt8(100 + number))) } }
            }
        }
        #expect(try test.device.hosts().count == 16)
    }

    @Test("a list that could not be read again is not written")
    func tooLarge() throws {
        let test = try TemporaryDevice()
        let store = test.device.store
        try store.change { $0.add(SavedHostListTests.host(1)) }
        let name = String(repeating: "x", count: 1 << 20)
        #expect(throws: DeviceError.self) {
            try store.change { list in list.change(SavedHostListTests.host(1).id) { $0.name = name } }
        }
        #expect(try test.device.hosts() == [SavedHostListTests.host(1)])
    }

    @Test("forgetting")
    func forget() throws {
        let test = try TemporaryDevice()
        try test.device.store.change { $0.add(SavedHostListTests.host(1)) }
        try test.device.forget(SavedHostListTests.host(1).id)
        #expect(try test.device.hosts().isEmpty)
        #expect(throws: DeviceError.self) { try test.device.forget(SavedHostListTests.host(1).id) }
    }
}
