// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 03 §5.4.
struct DeviceGateTests {
    @Test(
        arguments: [
            ("1.2", MessageKind.hello, Hello(appVersion: "1.2"), true),
            ("1.2", .hello, Hello(appVersion: "1.3.4"), true),
            ("1.2", .hello, Hello(appVersion: "1.1"), false),
            ("1.2", .hello, Hello(), false), ("2", .hello, Hello(appVersion: "1.9"), false),
            ("1.2", .hello, nil, false), ("1.2", .frame, nil, false),
            ("1.2", .frame, Hello(appVersion: "2"), false), ("1.2", nil, nil, false),
            ("0", nil, nil, true), ("0.10", .hello, Hello(appVersion: "0.9"), false),
        ] as [(String, MessageKind?, Hello?, Bool)])
    func gate(_ floor: String, _ kind: MessageKind?, _ hello: Hello?, _ admitted: Bool) throws {
        let floor = try #require(Version(floor))
        #expect(DeviceGate.admits(floor: floor, kind: kind, hello: hello) == admitted)
    }

    @Test func theSixthRefusalIsTheFirstLateOne() {
        var gate = DeviceGate()
        let source = ip("192.168.1.9")
        let delays = (0..<7).map { gate.refused(source, at: at(Double($0))).delay }
        #expect(delays == Array(repeating: .zero, count: 5) + Array(repeating: .seconds(2), count: 2))
        #expect(gate.refused(ip("192.168.1.10"), at: at(7)).delay == .zero)
        #expect(gate.refused(source, at: at(62)).delay == .zero)
    }

    @Test func itsNumbers() {
        #expect(DeviceGate.deadline == .seconds(2))
        #expect(DeviceGate.delay == .seconds(2))
    }

    @Test func oneLineASourceAndMinute() {
        var gate = DeviceGate()
        let source = ip("192.168.1.9")
        let logged = [0.0, 10, 20, 60, 61, 125].map { gate.refused(source, at: at($0)).logged }
        #expect(logged == [1, nil, nil, 3, nil, 2])
    }

    @Test(arguments: [
        ("iPhone 15 (iPhone15,2)", "iPhone"), ("iPad (iPad14,1)", "iPad"), ("Pixel", "device"),
        (nil, "device"),
        ("\u{202E}iPad", "iPad"), ("my iPad", "device"),
    ])
    func words(_ device: String?, _ word: String) throws {
        let floor = try #require(Version("2"))
        let message = DeviceGate.message(
            device: device, host: String(repeating: "h", count: 64), floor: floor)
        #expect(message.contains(" \(word) "))
        #expect(message.contains("2.0"))
        #expect(message.count <= 200)
    }
    @Test func atMost200Characters() throws {
        let floor = try #require(Version(Array(repeating: "123456789", count: 8).joined(separator: ".")))
        let message = DeviceGate.message(
            device: nil, host: String(repeating: "h", count: 64), floor: floor)
        #expect(message.count == 200)
    }
}
