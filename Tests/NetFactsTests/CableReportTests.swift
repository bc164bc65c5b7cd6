// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Testing

@testable import NetFacts

@Suite("Cable report")
struct CableReportTests {
    /// Tree C with another Ethernet card, a Personal Hotspot and a container's bridge.
    static func machine() throws -> CableTree {
        let tree = try CableTree()
        for (name, index) in [("enp2s0", 2), ("docker0", 3), ("eth1", 5)] {
            let home =
                name == "docker0"
                ? "devices/virtual/net/docker0"
                : name == "eth1"
                    ? "devices/pci0000:00/0000:00:14.0/usb3/3-4/3-4:4.2/net/eth1"
                    : "devices/pci0000:00/0000:02:00.0/net/enp2s0"
            try tree.folder(home)
            try tree.write("\(home)/ifindex", "\(index)\n")
            try tree.write("\(home)/type", "1\n")
            try tree.write("\(home)/flags", "0x1003\n")
            try tree.link("class/net/\(name)", to: home)
        }
        let card = "devices/pci0000:00/0000:02:00.0"
        try tree.folder("bus/pci/drivers/r8169")
        try tree.link("\(card)/driver", to: "bus/pci/drivers/r8169")
        try tree.link("\(card)/subsystem", to: "bus/pci")
        try tree.link("\(card)/net/enp2s0/device", to: card)
        let hotspot = "devices/pci0000:00/0000:00:14.0/usb3/3-4"
        for (name, text) in [
            ("uevent", "DEVTYPE=usb_device"), ("idVendor", "05ac"), ("idProduct", "12a8"),
            ("product", "iPhone"),
        ] { try tree.write("\(hotspot)/\(name)", text + "\n") }
        let function = hotspot + "/3-4:4.2"
        for (name, text) in [
            ("uevent", "DEVTYPE=usb_interface"), ("bInterfaceClass", "ff"), ("bInterfaceSubClass", "fd"),
        ] { try tree.write("\(function)/\(name)", text + "\n") }
        try tree.folder("bus/usb/drivers/ipheth")
        try tree.link("\(function)/driver", to: "bus/usb/drivers/ipheth")
        try tree.link("\(function)/subsystem", to: "bus/usb")
        try tree.link("\(function)/net/eth1/device", to: function)
        return tree
    }

    @Test("every interface with what it is, also where an early row failed")
    func survey() throws {
        let tree = try Self.machine()
        var network = FakeNetwork()
        network.links = [
            .init(index: 1, name: "lo", hasLinkLocal: false, neighbours: 0),
            .init(index: 2, name: "enp2s0", hasLinkLocal: true, neighbours: 3),
            .init(index: 3, name: "docker0", hasLinkLocal: false, neighbours: 0),
            .init(index: 5, name: "eth1", hasLinkLocal: true, neighbours: 0),
            .init(index: 9, name: "usb0", hasLinkLocal: true, neighbours: 1),
        ]
        #expect(
            tree.reader(network).survey(within: patience) == [
                CableReport(
                    interface: "lo", index: 1, reason: .unreadable, hasLinkLocal: false, neighbours: 0),
                CableReport(
                    interface: "enp2s0", index: 2, driver: "r8169", reason: .notUSB, hasLinkLocal: true,
                    neighbours: 3),
                CableReport(
                    interface: "docker0", index: 3, reason: .notUSB, hasLinkLocal: false, neighbours: 0),
                CableReport(
                    interface: "eth1", index: 5, driver: "ipheth", vendor: "05ac", productID: "12a8",
                    product: "iPhone", reason: .personalHotspot, hasLinkLocal: true, neighbours: 0),
                CableReport(
                    interface: "usb0", index: 9, driver: "cdc_ncm", vendor: "05ac", productID: "12a8",
                    product: "iPhone", reason: nil, hasLinkLocal: true, neighbours: 1, plug: "3:17/9"),
            ])
    }

    @Test("an interface that is down is still told by its driver and product")
    func down() throws {
        let tree = try CableTree()
        try tree.write("\(tree.interface)/flags", "0x1002\n")
        var network = FakeNetwork()
        network.links = [.init(index: 9, name: "usb0", hasLinkLocal: false, neighbours: 0)]
        let report = try #require(tree.reader(network).survey(within: patience)?.first)
        #expect(report.reason == .flags && report.plug == nil)
        #expect(report.driver == "cdc_ncm" && report.product == "iPhone" && report.vendor == "05ac")
    }

    @Test("this machine's own interfaces can be asked")
    func thisMachine() throws {
        let reports = try #require(CableReader(sha256: { _ in [] }).survey(within: patience))
        let loopback = try #require(reports.first { $0.interface == "lo" })
        #expect(loopback.reason == .notEthernet && loopback.driver == nil && loopback.product == nil)
    }

    @Test("a kernel that lists nothing is no empty list")
    func none() throws {
        var network = FakeNetwork()
        network.links = nil
        #expect(try CableTree().reader(network).survey(within: patience) == nil)
    }
}
