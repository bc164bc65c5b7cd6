// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Policy

@Suite("Cable rule")
struct CableRuleTests {
    /// Tree C of 04 §10 as it is read.
    static let treeC: CableFacts = {
        var facts = CableFacts(
            source: address("fe80::c0d3:1%9"),
            ownAddresses: [address("fe80::11:22ff:fe33:4455%9"), address("192.168.1.20")], interface: "usb0")
        var interface = CableRows.Interface()
        interface.index = .text("9")
        interface.type = .text("1")
        interface.flags = .text("0x1003")
        interface.isStacked = false
        facts.rows.interface = interface
        var function = CableRows.Function()
        function.folder = .path(["devices", "pci0000:00", "usb3", "3-2", "3-2:5.2"])
        function.subsystem = .path(["bus", "usb"])
        function.event = .text("DEVTYPE=usb_interface")
        function.driver = .path(["bus", "usb", "drivers", "cdc_ncm"])
        function.interfaceClass = .text("02")
        function.interfaceSubClass = .text("0d")
        facts.rows.function = function
        var maker = CableRows.Maker()
        maker.event = .text("DEVTYPE=usb_device")
        maker.vendor = .text("05ac")
        maker.product = .text("iPhone")
        facts.rows.maker = maker
        var device = CableRows.Device()
        device.serial = .device("9thvTr8MQMHWVzL83q51yQ")
        device.authorized = .text("1")
        facts.rows.device = device
        var plug = CableRows.Plug()
        plug.bus = .text("3")
        plug.device = .text("17")
        plug.indexAgain = interface.index
        plug.folderAgain = function.folder
        plug.deviceAgain = plug.device
        facts.rows.plug = plug
        facts.neighbour = .entry(CableNeighbour(state: 4, address: [0x3a, 0, 0, 0, 0, 1]))
        facts.hardwareAddress = .text("02:11:22:33:44:55")
        return facts
    }()

    private static func address(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(v4: 0) }

    @Test("tree C")
    func tree() {
        let finding = CableFinding(device: "9thvTr8MQMHWVzL83q51yQ", plug: "3:17/9", interface: "usb0")
        #expect(CableRule.judge(Self.treeC) == .cable(finding))
    }

    private static func learned(_ address: [UInt8], _ state: UInt16 = 4) -> NeighbourReading {
        .entry(CableNeighbour(state: state, address: address))
    }

    /// One row made false and the reason it names.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: CableReason
        let make: @Sendable (inout CableFacts) -> Void

        init(
            _ testDescription: String, _ reason: CableReason,
            _ make: @escaping @Sendable (inout CableFacts) -> Void
        ) {
            self.testDescription = testDescription
            self.reason = reason
            self.make = make
        }
    }

    /// In the order of the rule: whatever stands before wins.
    static let faults = [
        Fault("3.1 IPv4", .notLinkLocal) { $0.source = address("169.254.10.2") },
        Fault("3.1 no zone", .noZone) { $0.source = $0.source.unscoped },
        Fault("3.2 own addresses unread", .unreadable) { $0.ownAddresses = nil },
        Fault("3.2 own", .ownAddress) { $0.ownAddresses?.append(address("fe80::c0d3:1%2")) },
        Fault("no interface", .noInterface) { $0.interface = nil },
        Fault("1", .indexChanged) { $0.rows.interface?.index = .text("10") },
        Fault("1 unread", .unreadable) { $0.rows.interface?.index = .missing },
        Fault("2", .notEthernet) { $0.rows.interface?.type = .text("772") },
        Fault("3", .flags) { $0.rows.interface?.flags = .text("0x1002") },
        Fault("3 loopback", .flags) { $0.rows.interface?.flags = .text("0x1009") },
        Fault("3 point-to-point", .flags) { $0.rows.interface?.flags = .text("0x1011") },
        Fault("3 no ARP", .flags) { $0.rows.interface?.flags = .text("0x1081") },
        Fault("4", .stacked) { $0.rows.interface?.isStacked = true },
        Fault("4 unread", .unreadable) { $0.rows.interface?.isStacked = nil },
        Fault("5", .notUSB) { $0.rows.function?.folder = .missing },
        Fault("5 astray", .notUSB) { $0.rows.function?.folder = .astray },
        Fault("5 elsewhere", .notUSB) { $0.rows.function?.folder = .path(["bus", "x"]) },
        Fault("5 unread", .unreadable) { $0.rows.function?.folder = .unreadable },
        Fault("6", .notUSB) { $0.rows.function?.subsystem = .path(["bus", "pci"]) },
        Fault("6 unread", .unreadable) { $0.rows.function?.subsystem = .unreadable },
        Fault("7", .notUSB) { $0.rows.function?.event = .text("DEVTYPE=usb_device") },
        Fault("7 two types", .notUSB) {
            $0.rows.function?.event = .text("DEVTYPE=usb_device\nDEVTYPE=usb_interface")
        },
        Fault("7 two types, the right one first", .notUSB) {
            $0.rows.function?.event = .text("DEVTYPE=usb_interface\nDEVTYPE=usb_device")
        },
        Fault("8", .personalHotspot) {
            $0.rows.function?.driver = .path(["bus", "usb", "drivers", "ipheth"])
        },
        Fault("8 unread", .unreadable) { $0.rows.function?.driver = .unreadable },
        Fault("9 class", .wrongFunction) { $0.rows.function?.interfaceClass = .text("ff") },
        Fault("9 subclass", .wrongFunction) { $0.rows.function?.interfaceSubClass = .text("06") },
        Fault("10", .wrongDriver) {
            $0.rows.function?.driver = .path(["bus", "usb", "drivers", "cdc_ether"])
        },
        Fault("10 longer", .wrongDriver) {
            $0.rows.function?.driver = .path(["bus", "usb", "drivers", "cdc_ncm2"])
        },
        Fault("10 none", .wrongDriver) { $0.rows.function?.driver = .missing },
        Fault("10 astray", .wrongDriver) { $0.rows.function?.driver = .astray },
        Fault("11", .notUSB) { $0.rows.maker?.event = .text("DEVTYPE=usb_interface") },
        Fault("12", .wrongVendor) { $0.rows.maker?.vendor = .text("18d1") },
        Fault("12 three digits", .wrongVendor) { $0.rows.maker?.vendor = .text("5ac") },
        Fault("12 five digits", .wrongVendor) { $0.rows.maker?.vendor = .text("005ac") },
        Fault("13", .wrongProduct) { $0.rows.maker?.product = .text("iPod") },
        Fault("14", .noSerial) { $0.rows.device?.serial = .empty },
        Fault("14 none", .noSerial) { $0.rows.device?.serial = .missing },
        Fault("14 unread", .unreadable) { $0.rows.device?.serial = .unreadable },
        Fault("15", .unauthorized) { $0.rows.device?.authorized = .text("0") },
        Fault("15 unread", .unreadable) { $0.rows.device?.authorized = .unreadable },
        Fault("16", .virtualBus) {
            let path = ["devices", "platform", "vhci_hcd.0", "usb5", "5-1", "5-1:5.2"]
            $0.rows.function?.folder = .path(path)
            $0.rows.plug?.folderAgain = .path(path)
        },
        Fault("17 bus", .unreadable) { $0.rows.plug?.bus = .text("three") },
        Fault("17 device", .unreadable) { $0.rows.plug?.device = .text("") },
        Fault("17 index again", .changed) { $0.rows.plug?.indexAgain = .text("10") },
        Fault("17 folder again", .changed) { $0.rows.plug?.folderAgain = .missing },
        Fault("17 folder again unread", .unreadable) { $0.rows.plug?.folderAgain = .unreadable },
        Fault("17 device again", .changed) { $0.rows.plug?.deviceAgain = .text("18") },
        Fault("3.4 none", .neighbour) { $0.neighbour = .none },
        Fault("3.4 by hand", .neighbour) { $0.neighbour = learned([0x3a, 0, 0, 0, 0, 1], 0x80) },
        Fault("3.4 zeros", .neighbour) { $0.neighbour = learned([0, 0, 0, 0, 0, 0]) },
        Fault("3.4 multicast", .neighbour) { $0.neighbour = learned([0x33, 0x33, 0, 0, 0, 1]) },
        Fault("3.4 eight bytes", .neighbour) { $0.neighbour = learned([0x3a, 0, 0, 0, 0, 1, 0, 0]) },
        Fault("3.4 no bytes", .neighbour) { $0.neighbour = learned([]) },
        Fault("3.4 own address unread", .unreadable) { $0.hardwareAddress = .unreadable },
        Fault("3.4 own address", .neighbour) {
            $0.neighbour = learned([0x02, 0x11, 0x22, 0x33, 0x44, 0x55])
        },
    ]

    @Test("any single row made false", arguments: faults)
    func single(_ fault: Fault) {
        var facts = Self.treeC
        fault.make(&facts)
        #expect(CableRule.judge(facts) == .not(fault.reason))
    }

    @Test("of two rows made false the first names the reason")
    func pairs() {
        for (index, first) in Self.faults.enumerated() {
            for second in Self.faults[(index + 1)...] {
                // Applied first, so that where both change one file the earlier row's text stands.
                var facts = Self.treeC
                second.make(&facts)
                first.make(&facts)
                #expect(
                    CableRule.judge(facts) == .not(first.reason),
                    "\(first.testDescription) before \(second.testDescription)")
            }
        }
    }

    @Test("what was not read is not the cable")
    func unread() {
        let cuts: [@Sendable (inout CableRows) -> Void] = [
            { $0.interface = nil }, { $0.function = nil }, { $0.maker = nil }, { $0.device = nil },
            { $0.plug = nil },
            { $0 = CableRows() },
        ]
        for cut in cuts {
            var facts = Self.treeC
            cut(&facts.rows)
            #expect(CableRule.judge(facts) == .not(.unreadable))
        }
        #expect(
            CableRule.judge(CableFacts(source: Self.treeC.source, ownAddresses: [], interface: "usb0"))
                == .not(.unreadable))
    }

    @Test("an authorized that is not there passes")
    func unauthorizedMissing() {
        var facts = Self.treeC
        facts.rows.device?.authorized = .missing
        guard case .cable = CableRule.judge(facts) else {
            Issue.record("not the cable")
            return
        }
    }

    @Test(
        "products, byte for byte",
        arguments: [
            ("iPhone", true), ("iPad", true), ("iphone", false), ("IPAD", false), ("iPhone ", false),
            ("iPod", false), ("iPad mini", false), ("", false), ("MacBook Pro", false),
            ("iPhone\u{301}", false),
        ])
    func products(_ product: String, _ isCable: Bool) {
        var facts = Self.treeC
        facts.rows.maker?.product = .text(product)
        #expect((CableRule.judge(facts) == .not(.wrongProduct)) != isCable)
    }

    @Test("the lowest and highest neighbour states count one by one")
    func states() {
        for state in 0...UInt16(0x1FF) {
            let neighbour = CableNeighbour(state: state, address: [2, 0, 0, 0, 0, 1])
            #expect(neighbour.isReal == [2, 4, 8, 16].contains(state))
        }
    }

    @Test("a device of a hash that is none has no identity")
    func identity() {
        #expect(CableRule.device(serial: [1], sha256: { _ in [] }) == nil)
        #expect(CableRule.device(serial: [1], sha256: { _ in [UInt8](repeating: 0, count: 31) }) == nil)
        var asked: [UInt8] = []
        let device = CableRule.device(serial: Array("AB".utf8)) { bytes in
            asked = bytes
            return [UInt8](0..<32)
        }
        #expect(asked == Array("sill-cable-v1AB".utf8))
        #expect(device == Base64URL.encode([UInt8](0..<16)) && device?.count == 22)
    }

    @Test("every reason has the word of 04 §8")
    func words() {
        #expect(
            Set(CableReason.allCases.map(\.rawValue)) == [
                "notLinkLocal", "noZone", "ownAddress", "noInterface", "indexChanged", "notEthernet", "flags",
                "stacked", "notUSB", "personalHotspot", "wrongFunction", "wrongDriver", "wrongVendor",
                "wrongProduct", "noSerial", "unauthorized", "virtualBus", "changed", "unreadable",
                "neighbour",
            ])
    }
}
