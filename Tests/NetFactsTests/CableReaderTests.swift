// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Testing
import Wire

@testable import NetFacts

@Suite("Cable reader")
struct CableReaderTests {
    /// One change to tree C (04 §10) and what it makes of the verdict; nil: still the cable.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let want: CableReason?
        let make: @Sendable (CableTree) throws -> Void

        init(
            _ testDescription: String, _ want: CableReason?,
            _ make: @escaping @Sendable (CableTree) throws -> Void
        ) {
            self.testDescription = testDescription
            self.want = want
            self.make = make
        }
    }

    static let found = CableVerdict.cable(
        CableFinding(device: CableTree.device, plug: "3:17/9", interface: "usb0"))

    @Test("tree C is the cable")
    func treeC() throws { #expect(try CableTree().judge() == Self.found) }

    // The rows of 04 §10 that change sysfs.
    static let changes = [
        Change("idVendor in capitals", nil) { try $0.write("\($0.usb)/idVendor", "05AC\n") },
        Change("bInterfaceSubClass in capitals", nil) {
            try $0.write("\($0.function)/bInterfaceSubClass", "0D\n")
        },
        Change("authorized missing", nil) { try $0.remove("\($0.usb)/authorized") },
        Change("product iPhone 15", .wrongProduct) { try $0.write("\($0.usb)/product", "iPhone 15\n") },
        Change("a Mac", .wrongProduct) {
            try $0.write("\($0.usb)/product", "Mac\n")
            try $0.write("\($0.usb)/idProduct", "1905\n")
        },
        Change("idVendor 18d1", .wrongVendor) { try $0.write("\($0.usb)/idVendor", "18d1\n") },
        Change("ipheth", .personalHotspot) {
            try $0.drive(by: "ipheth")
            try $0.write("\($0.function)/bInterfaceClass", "ff\n")
            try $0.write("\($0.function)/bInterfaceSubClass", "fd\n")
        },
        Change("cdc_ether", .wrongFunction) {
            try $0.drive(by: "cdc_ether")
            try $0.write("\($0.function)/bInterfaceSubClass", "06\n")
        },
        Change("cdc_mbim", .wrongFunction) {
            try $0.drive(by: "cdc_mbim")
            try $0.write("\($0.function)/bInterfaceSubClass", "0e\n")
        },
        Change("cdc_ncm_evil", .wrongDriver) { try $0.drive(by: "cdc_ncm_evil") },
        Change("no serial file", .noSerial) { try $0.remove("\($0.usb)/serial") },
        Change("a bridge above", .stacked) { try $0.link("\($0.interface)/master", to: "bus/usb") },
        Change("ifindex 10", .indexChanged) { try $0.write("\($0.interface)/ifindex", "10\n") },
        Change("no device link", .notUSB) { try $0.remove("\($0.interface)/device") },
    ]

    // Every row of 04 §3.3 made false by itself, and what only looks like a row made true.
    static let rows = [
        Change("1: ifindex 90", .indexChanged) { try $0.write("\($0.interface)/ifindex", "90\n") },
        Change("1: ifindex 09", .indexChanged) { try $0.write("\($0.interface)/ifindex", "09\n") },
        Change("1: ifindex empty", .indexChanged) { try $0.write("\($0.interface)/ifindex", "\n") },
        Change("1: no such interface", .unreadable) { try $0.remove("class/net/usb0") },
        Change("1: interface out of the tree", .unreadable) {
            try FileManager.default.createDirectory(
                atPath: $0.root + "-outside", withIntermediateDirectories: true)
            try $0.link("class/net/usb0", raw: $0.root + "-outside")
        },
        Change("2: another hardware", .notEthernet) { try $0.write("\($0.interface)/type", "65534\n") },
        Change("2: type 01", .notEthernet) { try $0.write("\($0.interface)/type", "01\n") },
        Change("3: down", .flags) { try $0.write("\($0.interface)/flags", "0x1002\n") },
        Change("3: loopback", .flags) { try $0.write("\($0.interface)/flags", "0x100b\n") },
        Change("3: point-to-point", .flags) { try $0.write("\($0.interface)/flags", "0x1013\n") },
        Change("3: no ARP", .flags) { try $0.write("\($0.interface)/flags", "0x1083\n") },
        Change("3: no number", .flags) { try $0.write("\($0.interface)/flags", "up\n") },
        Change("3: more than 32 bits", .flags) { try $0.write("\($0.interface)/flags", "0x100000001\n") },
        Change("4: a VLAN above", .stacked) { try $0.link("\($0.interface)/upper_usb0.5", to: "bus/usb") },
        Change("4: a dangling master", .stacked) { try $0.link("\($0.interface)/master", raw: "nowhere") },
        Change("5: device leads out", .notUSB) { try $0.link("\($0.interface)/device", raw: "/") },
        Change("5: device leads to another part of the tree", .notUSB) {
            try $0.folder("firmware/x")
            try $0.link("\($0.interface)/device", to: "firmware/x")
        },
        Change("5: device is the root of all devices", .notUSB) {
            try $0.link("\($0.interface)/device", to: "devices")
        },
        Change("5: device leads to a file", .notUSB) {
            try $0.link("\($0.interface)/device", to: "\($0.function)/uevent")
        },
        Change("5: device leads nowhere", .notUSB) { try $0.link("\($0.interface)/device", raw: "nowhere") },
        Change("5: device leads in a circle", .notUSB) {
            try $0.link("\($0.interface)/device", raw: "device")
        },
        Change("6: on another bus", .notUSB) {
            try $0.folder("bus/pci")
            try $0.link("\($0.function)/subsystem", to: "bus/pci")
        },
        Change("6: on no bus", .notUSB) { try $0.remove("\($0.function)/subsystem") },
        Change("6: on a bus out of the tree", .notUSB) {
            let outside = $0.root + "-bus/usb"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            try $0.link("\($0.function)/subsystem", raw: outside)
        },
        Change("7: a device, not an interface", .notUSB) {
            try $0.write("\($0.function)/uevent", "DEVTYPE=usb_device\n")
        },
        Change("7: no DEVTYPE", .notUSB) { try $0.write("\($0.function)/uevent", "DRIVER=cdc_ncm\n") },
        Change("7: two DEVTYPEs", .notUSB) {
            try $0.write("\($0.function)/uevent", "DEVTYPE=usb_interface\nDEVTYPE=usb_device\n")
        },
        Change("7: a DEVTYPE inside a line", .notUSB) {
            try $0.write("\($0.function)/uevent", "X=DEVTYPE=usb_interface\n")
        },
        Change("8: ipheth with class and subclass of NCM", .personalHotspot) { try $0.drive(by: "ipheth") },
        Change("9: class 03", .wrongFunction) { try $0.write("\($0.function)/bInterfaceClass", "03\n") },
        Change("9: class as a decimal", .wrongFunction) {
            try $0.write("\($0.function)/bInterfaceSubClass", "13\n")
        },
        Change("9: subclass 0d with a blank", .wrongFunction) {
            try $0.write("\($0.function)/bInterfaceSubClass", "0d \n")
        },
        Change("9: subclass 0d with two line feeds", .wrongFunction) {
            try $0.write("\($0.function)/bInterfaceSubClass", "0d\n\n")
        },
        Change("9: subclass empty", .wrongFunction) {
            try $0.write("\($0.function)/bInterfaceSubClass", "\n")
        },
        Change("9: subclass with a sign", .wrongFunction) {
            try $0.write("\($0.function)/bInterfaceSubClass", "+d\n")
        },
        Change("9: subclass d", nil) { try $0.write("\($0.function)/bInterfaceSubClass", "d\n") },
        Change("9: subclass 0x0d", nil) { try $0.write("\($0.function)/bInterfaceSubClass", "0x0d\n") },
        Change("9: without a line feed", nil) { try $0.write("\($0.function)/bInterfaceSubClass", "0d") },
        Change("10: no driver", .wrongDriver) { try $0.remove("\($0.function)/driver") },
        Change("10: a driver that is not there", .wrongDriver) {
            try $0.link("\($0.function)/driver", to: "bus/usb/drivers/gone/cdc_ncm")
        },
        Change("10: a driver out of the tree", .wrongDriver) {
            let outside = $0.root + "-drivers/cdc_ncm"
            try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
            try $0.link("\($0.function)/driver", raw: outside)
        },
        Change("11: a hub above", .notUSB) { try $0.write("\($0.usb)/uevent", "DEVTYPE=usb_interface\n") },
        Change("12: vendor 5ac", .wrongVendor) { try $0.write("\($0.usb)/idVendor", "5ac\n") },
        Change("12: vendor 0x05ac", .wrongVendor) { try $0.write("\($0.usb)/idVendor", "0x05ac\n") },
        Change("12: vendor 05ad", .wrongVendor) { try $0.write("\($0.usb)/idVendor", "05ad\n") },
        Change("13: iphone", .wrongProduct) { try $0.write("\($0.usb)/product", "iphone\n") },
        Change("13: iPhone with a blank", .wrongProduct) { try $0.write("\($0.usb)/product", "iPhone \n") },
        Change("13: iPhone with two line feeds", .wrongProduct) {
            try $0.write("\($0.usb)/product", "iPhone\n\n")
        },
        Change("13: iPhone with CR LF", .wrongProduct) { try $0.write("\($0.usb)/product", "iPhone\r\n") },
        Change("13: iPhone with a zero byte", .wrongProduct) {
            try $0.write("\($0.usb)/product", "iPhone\0\n")
        },
        Change("13: another e", .wrongProduct) { try $0.write("\($0.usb)/product", "iPhonе\n") },
        Change("13: empty", .wrongProduct) { try $0.write("\($0.usb)/product", "") },
        Change("13: iPad", nil) { try $0.write("\($0.usb)/product", "iPad\n") },
        Change("14: an empty serial", .noSerial) { try $0.write("\($0.usb)/serial", "\n") },
        Change("14: nothing in serial", .noSerial) { try $0.write("\($0.usb)/serial", "") },
        Change("15: not authorized", .unauthorized) { try $0.write("\($0.usb)/authorized", "0\n") },
        Change("15: authorized empty", .unauthorized) { try $0.write("\($0.usb)/authorized", "\n") },
        Change("17: busnum no number", .unreadable) { try $0.write("\($0.usb)/busnum", "3a\n") },
        Change("17: devnum no number", .unreadable) { try $0.write("\($0.usb)/devnum", "-1\n") },
        Change("17: devnum empty", .unreadable) { try $0.write("\($0.usb)/devnum", "\n") },
    ]

    @Test("a change to tree C", arguments: changes + rows)
    func change(_ change: Change) throws {
        let tree = try CableTree()
        defer {
            for outside in ["-outside", "-bus", "-drivers"] {
                try? FileManager.default.removeItem(atPath: tree.root + outside)
            }
        }
        try change.make(tree)
        #expect(try tree.judge() == change.want.map { .not($0) } ?? Self.found)
    }

    @Test("an iPad's other function is the cable too")
    func iPad() throws {
        let tree = try CableTree(suffix: "5.4")
        try tree.write("\(tree.usb)/product", "iPad\n")
        try tree.write("\(tree.usb)/idProduct", "12ab\n")
        #expect(try tree.judge() == Self.found)
    }

    @Test(
        "an emulated host is no cable, wherever it stands in the path; a name that only holds the word is none",
        arguments: [
            ("platform/vhci_hcd.0/usb5/5-1", .virtualBus), ("platform/dummy_hcd.0/usb5/5-1", .virtualBus),
            ("platform/dummy_hcd/usb5/5-1", .virtualBus), ("platform/vhci_hcd_x/usb5/5-1", .virtualBus),
            ("platform/my_vhci_hcd.0/usb5/5-1", nil), ("pci0000:00/usb1/1-4/1-4.2", nil),
        ] as [(String, CableReason?)])
    func virtualBus(_ bus: String, _ want: CableReason?) throws {
        #expect(try CableTree(bus: bus).judge() == want.map { .not($0) } ?? Self.found)
    }

    @Test("a root that is itself a link, or ends in a slash, is the same tree")
    func roots() throws {
        let tree = try CableTree()
        let link = tree.root + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: tree.root)
        defer { try? FileManager.default.removeItem(atPath: link) }
        for root in [link, tree.root + "/", tree.root + "//."] {
            let reader = CableReader(
                sysfs: root, network: FakeNetwork().questions,
                sha256: { _ in [UInt8](repeating: 0, count: 32) })
            guard case .cable = reader.judge(try #require(IPAddress("fe80::c0d3:1%9"))) else {
                Issue.record("not the cable at \(root)")
                continue
            }
        }
        let nowhere = CableReader(
            sysfs: tree.root + "/nowhere", network: FakeNetwork().questions, sha256: { _ in [] })
        #expect(nowhere.judge(try #require(IPAddress("fe80::c0d3:1%9"))) == .not(.unreadable))
    }

    // MARK: Source, own addresses, neighbours

    @Test(
        "sources",
        arguments: [
            ("fe80::11:22ff:fe33:4455%9", .ownAddress), ("169.254.10.2", .notLinkLocal),
            ("::ffff:169.254.1.2", .notLinkLocal), ("fd00::1%9", .notLinkLocal), ("fe80::c0d3:1", .noZone),
            ("fe80::c0d3:1%0", .noZone), ("fe80::c0d3:1%8", .noInterface), ("fec0::1%9", .notLinkLocal),
            ("::1", .notLinkLocal), ("192.168.1.20", .notLinkLocal), ("fe80::c0d3:2%9", .neighbour),
        ] as [(String, CableReason)])
    func sources(_ source: String, _ want: CableReason) throws {
        #expect(try CableTree().judge(source) == .not(want))
    }

    @Test("an own address of any interface, whatever its scope says")
    func ownElsewhere() throws {
        var network = FakeNetwork()
        for own in ["fe80::c0d3:1%3", "fe80::c0d3:1", "fe80:9::c0d3:1%9"] {
            network.own = [own]
            #expect(try CableTree().judge("fe80::c0d3:1%9", network) == .not(.ownAddress))
        }
        network.own = nil
        #expect(try CableTree().judge("fe80::c0d3:1%9", network) == .not(.unreadable))
    }

    @Test("a name that leads out of the directory names no interface", arguments: ["..", ".", "", "a/b"])
    func names(_ name: String) throws {
        var network = FakeNetwork()
        network.names[9] = name
        #expect(try CableTree().judge("fe80::c0d3:1%9", network) == .not(.noInterface))
    }

    private static let peer: [UInt8] = [0x3a, 0, 0, 0, 0, 1]

    @Test(
        "neighbours",
        arguments: [
            (.entry(CableNeighbour(state: 0x02, address: peer)), nil),
            (.entry(CableNeighbour(state: 0x04, address: peer)), nil),
            (.entry(CableNeighbour(state: 0x08, address: peer)), nil),
            (.entry(CableNeighbour(state: 0x10, address: peer)), nil),
            (.entry(CableNeighbour(state: 0x80, address: peer)), .neighbour),
            (.entry(CableNeighbour(state: 0x40, address: peer)), .neighbour),
            (.entry(CableNeighbour(state: 0x01, address: peer)), .neighbour),
            (.entry(CableNeighbour(state: 0x20, address: peer)), .neighbour),
            (.entry(CableNeighbour(state: 0x00, address: peer)), .neighbour),
            (.entry(CableNeighbour(state: 0x82, address: peer)), .neighbour),
            (.entry(CableNeighbour(state: 4, address: [0x02, 0x11, 0x22, 0x33, 0x44, 0x55])), .neighbour),
            (.entry(CableNeighbour(state: 4, address: [0, 0, 0, 0, 0, 0])), .neighbour),
            (.entry(CableNeighbour(state: 4, address: [0x33, 0x33, 0, 0, 0, 1])), .neighbour),
            (.entry(CableNeighbour(state: 4, address: [])), .neighbour),
            (.entry(CableNeighbour(state: 4, address: [0x3a, 0, 0, 0, 0])), .neighbour),
            (.entry(CableNeighbour(state: 4, address: peer + [0])), .neighbour), (.none, .neighbour),
            (.unreadable, .neighbour),
        ] as [(NeighbourReading, CableReason?)])
    func neighbours(_ reading: NeighbourReading, _ want: CableReason?) throws {
        var network = FakeNetwork()
        network.neighbour = reading
        #expect(
            try CableTree().judge("fe80::c0d3:1%9", network) == want.map { .not($0) } ?? Self.found)
    }

    @Test(
        "the interface's own address must be readable",
        arguments: ["02:11:22:33:44", "02:11:22:33:44:5g", "", "02-11-22-33-44-55", "2:11:22:33:44:55"])
    func ownHardwareAddress(_ text: String) throws {
        let tree = try CableTree()
        try tree.write("\(tree.interface)/address", text + "\n")
        #expect(try tree.judge() == .not(.unreadable))
    }

    // MARK: Everything that can stand in a file's place

    /// Every file and link of tree C that a row reads, and what its row says of a missing one.
    static let files: [(name: String, missing: CableReason?)] = [
        ("interface/ifindex", .unreadable), ("interface/type", .unreadable), ("interface/flags", .unreadable),
        ("interface/address", .unreadable), ("interface/device", .notUSB), ("function/uevent", .unreadable),
        ("function/bInterfaceClass", .unreadable), ("function/bInterfaceSubClass", .unreadable),
        ("function/driver", .wrongDriver), ("function/subsystem", .notUSB), ("usb/uevent", .unreadable),
        ("usb/idVendor", .unreadable), ("usb/product", .unreadable), ("usb/serial", .noSerial),
        ("usb/busnum", .unreadable), ("usb/devnum", .unreadable), ("usb/authorized", nil),
        ("usb/idProduct", nil),
    ]

    @Test("any single file removed: not the cable", arguments: files.map(\.name))
    func removed(_ name: String) throws {
        let tree = try CableTree()
        try tree.remove(tree.path(name))
        let want = try #require(Self.files.first { $0.name == name }).missing
        #expect(try tree.judge() == want.map { .not($0) } ?? Self.found)
    }

    /// What may stand in a file's place; reading it must neither wait nor take it for the file.
    static let hostile: [(name: String, put: @Sendable (CableTree, String) throws -> Void)] = [
        ("a directory", { try $0.folder($1) }),
        (
            "a FIFO nobody writes",
            { tree, path in
                try tree.remove(path)
                let made = unsafe mkfifo("\(tree.root)/\(path)", 0o644)
                #expect(made == 0)
            }
        ),
        ("a link to itself", { try $0.link($1, raw: String($1.split(separator: "/").last ?? "")) }),
        (
            "a link to a file that is right",
            { tree, path in
                let good = try readFile("\(tree.root)/\(path)")
                try tree.write("good", bytes: good)
                try tree.link(path, to: "good")
            }
        ),
        ("a device that never ends", { try $0.link($1, raw: "/dev/zero") }),
        ("4097 bytes", { try $0.write($1, bytes: [UInt8](repeating: 0x31, count: 4097)) }),
        ("a megabyte", { try $0.write($1, bytes: [UInt8](repeating: 0x0A, count: 1 << 20)) }),
        (
            "no UTF-8",
            { tree, path in
                let good = try readFile("\(tree.root)/\(path)")
                try tree.write(path, bytes: good.dropLast() + [0xFF, 0x0A])
            }
        ),
        ("half a character", { try $0.write($1, bytes: [0xC3]) }),
    ]

    @Test("any single file unreadable: not the cable", arguments: files.map(\.name), hostile.map(\.name))
    func unreadable(_ name: String, _ how: String) throws {
        let isLink = ["interface/device", "function/driver", "function/subsystem"].contains(name)
        let put = try #require(Self.hostile.first { $0.name == how }).put
        let tree = try CableTree()
        if isLink {
            // A link has no text; a good one's target cannot be copied.
            if ["a link to a file that is right", "no UTF-8"].contains(how) { return }
            try put(tree, tree.path(name))
            #expect(try tree.judge() != Self.found)
        } else {
            try put(tree, tree.path(name))
            #expect(try tree.judge() == (name == "usb/idProduct" ? Self.found : .not(.unreadable)))
        }
    }

    @Test("texts that fill a file to its limit and over it")
    func limit() throws {
        let tree = try CableTree()
        for (count, fits) in [(4095, true), (4096, true), (4097, false)] {
            let text = "DEVTYPE=usb_device\n"
            try tree.write(
                "\(tree.usb)/uevent", text + String(repeating: "X", count: count - text.utf8.count))
            #expect(try (tree.judge() == Self.found) == fits)
        }
    }

    @Test("texts by chance in every file: no trap, and what must be exact is")
    func fuzz() throws {
        let tree = try CableTree()
        let exact = ["interface/ifindex", "interface/type", "usb/product", "usb/idVendor"]
        let links = ["interface/device", "function/driver", "function/subsystem"]
        var state: UInt64 = 7
        func random(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % below
        }
        func withoutEnd(_ bytes: [UInt8]) -> [UInt8] { bytes.last == 0x0A ? Array(bytes.dropLast()) : bytes }
        for (name, _) in Self.files where !links.contains(name) {
            let path = tree.path(name)
            let original = try readFile("\(tree.root)/\(path)")
            for _ in 0..<60 {
                var bytes = original
                for _ in 0...random(3) {
                    switch random(3) {
                    case 0:
                        let byte: UInt8 = [0, 0x0A, 0x20, 0x30, 0x80, 0xFF][random(6)]
                        bytes.insert(byte, at: random(bytes.count + 1))
                    case 1 where !bytes.isEmpty: bytes.remove(at: random(bytes.count))
                    default: bytes += [UInt8](repeating: 0x41, count: random(5000))
                    }
                }
                try tree.write(path, bytes: bytes)
                let isCable = if case .cable = try tree.judge() { true } else { false }
                if exact.contains(name) {
                    #expect(
                        isCable == (withoutEnd(bytes) == withoutEnd(original)),
                        "\(name) as \(bytes.prefix(40))")
                }
            }
            try tree.write(path, bytes: original)
        }
        #expect(try tree.judge() == Self.found)
    }

    // MARK: Changes while it is read

    static let meanwhile = [
        Change("another interface has the name", .changed) {
            try $0.write("\($0.interface)/ifindex", "12\n")
        },
        Change("the interface is gone", .unreadable) { try $0.remove("class/net/usb0") },
        Change("the interface has no index any more", .unreadable) {
            try $0.remove("\($0.interface)/ifindex")
        },
        Change("it hangs on another function", .changed) {
            try $0.folder("\($0.usb)/3-2:5.4")
            try $0.link("\($0.interface)/device", to: "\($0.usb)/3-2:5.4")
        },
        Change("its device link is gone", .changed) { try $0.remove("\($0.interface)/device") },
        Change("the name is that of another directory", .changed) {
            try $0.folder("devices/other/net/usb0")
            try $0.write("devices/other/net/usb0/ifindex", "9\n")
            try $0.link("class/net/usb0", to: "devices/other/net/usb0")
        },
        Change("plugged in anew", .changed) { try $0.write("\($0.usb)/devnum", "18\n") },
        Change("unplugged", .unreadable) { try $0.remove($0.usb) },
        Change("the device number cannot be read", .unreadable) { try $0.remove("\($0.usb)/devnum") },
        Change("nothing that counts", nil) { try $0.write("\($0.usb)/idProduct", "12ab\n") },
    ]

    @Test("what changes between the first look and the second", arguments: meanwhile)
    func changed(_ change: Change) throws {
        let tree = try CableTree()
        var reader = tree.reader()
        reader.beforeSecondLook = { try? change.make(tree) }
        let want = change.want.map { CableVerdict.not($0) } ?? Self.found
        #expect(reader.judge(try #require(IPAddress("fe80::c0d3:1%9"))) == want)
    }

    @Test("two devices on two cables: each is judged by its own interface")
    func two() throws {
        let tree = try CableTree()
        let other = "devices/pci0000:00/0000:00:14.0/usb3/3-3"
        try FileManager.default.copyItem(
            atPath: "\(tree.root)/\(tree.usb)", toPath: "\(tree.root)/\(other)")
        for (name, text) in [("serial", "OTHER"), ("devnum", "18"), ("product", "iPad")] {
            try tree.write("\(other)/\(name)", text + "\n")
        }
        try tree.write("\(other)/3-2:5.2/net/usb0/ifindex", "11\n")
        try tree.link("\(other)/3-2:5.2/net/usb0/device", to: "\(other)/3-2:5.2")
        try tree.link("class/net/usb1", to: "\(other)/3-2:5.2/net/usb0")
        var network = FakeNetwork()
        network.names[11] = "usb1"
        #expect(try tree.judge("fe80::c0d3:1%9", network) == Self.found)
        let rows = tree.reader(network).rows(tree.reader(network).look(at: "usb1"), index: 11)
        guard case .cable(let finding) = CableRule.judge(rows, interface: "usb1", index: 11) else {
            Issue.record("usb1 is not the cable")
            return
        }
        #expect(finding.plug == "3:18/11" && finding.device != CableTree.device)
    }

    // MARK: Secrets

    @Test("neither the serial nor its hash is in any description or dump")
    func secrets() throws {
        let tree = try CableTree()
        let source = try #require(IPAddress("fe80::c0d3:1%9"))
        let facts = tree.reader().facts(of: source)
        let verdict = tree.reader().judge(source)
        var network = FakeNetwork()
        network.links = [CableNetwork.Link(index: 9, name: "usb0", hasLinkLocal: true, neighbours: 1)]
        let reports = try #require(tree.reader(network).survey(within: patience))
        guard case .cable(let finding) = verdict else {
            Issue.record("not the cable")
            return
        }
        for value in [facts, facts.rows, facts.rows.device as Any, verdict, finding, [finding], reports]
            as [Any]
        {
            var dumped = ""
            dump(value, to: &dumped)
            let said = "\(value)" + String(describing: value) + String(reflecting: value) + dumped
            #expect(!said.contains(CableTree.serial) && !said.contains(CableTree.device), "\(said)")
        }
        #expect("\(finding)" == "usb0 3:17/9" && finding.device == CableTree.device)
    }

    @Test("a hash that is none leaves the device unnamed, and so not the cable")
    func noHash() throws {
        let reader = CableReader(
            sysfs: try CableTree().root, network: FakeNetwork().questions, sha256: { _ in [] })
        #expect(reader.judge(try #require(IPAddress("fe80::c0d3:1%9"))) == .not(.unreadable))
    }
}

extension CableTree {
    /// "usb/serial" as a path below the root.
    func path(_ name: String) -> String {
        let parts = name.split(separator: "/")
        let folder = ["interface": interface, "function": function, "usb": usb][String(parts[0])] ?? ""
        return "\(folder)/\(parts[1])"
    }
}
