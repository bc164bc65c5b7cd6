// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Foundation
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import NetFacts

/// Tree C of 04 §10 in a directory of its own, laid out with relative links as the kernel does it, and the network that
/// goes with it. Gone with its last reference.
final class CableTree: Sendable {
    static let serial = "00008110001A2B3C4D5E6F70"
    static let device = "9thvTr8MQMHWVzL83q51yQ"
    static let index: UInt32 = 9

    /// R.
    let root: String
    /// Where the USB device is, below the root.
    let usb: String
    /// Where its network function is.
    let function: String
    /// Where the interface is.
    let interface: String

    /// `bus` is the USB device's directory below `devices`, `suffix` its interface's number.
    init(bus: String = "pci0000:00/0000:00:14.0/usb3/3-2", suffix: String = "5.2") throws {
        root = NSTemporaryDirectory() + "latchkey-cable-" + UUID().uuidString
        usb = "devices/" + bus
        let name = bus.split(separator: "/").last.map(String.init) ?? ""
        function = "\(usb)/\(name):\(suffix)"
        interface = function + "/net/usb0"
        for folder in [interface, "class/net", "bus/usb/drivers", "bus/usb/devices"] {
            try makeDirectory("\(root)/\(folder)", mode: 0o755)
        }
        let files = [
            (usb, "uevent", "MAJOR=189\nDEVTYPE=usb_device\nDRIVER=usb"), (usb, "idVendor", "05ac"),
            (usb, "idProduct", "12a8"), (usb, "product", "iPhone"), (usb, "serial", Self.serial),
            (usb, "authorized", "1"), (usb, "busnum", "3"), (usb, "devnum", "17"),
            (function, "uevent", "DEVTYPE=usb_interface\nDRIVER=cdc_ncm"),
            (function, "bInterfaceClass", "02"),
            (function, "bInterfaceSubClass", "0d"), (interface, "ifindex", "9"), (interface, "type", "1"),
            (interface, "flags", "0x1003"), (interface, "address", "02:11:22:33:44:55"),
            (interface, "uevent", "INTERFACE=usb0\nIFINDEX=9"),
        ]
        for (folder, name, text) in files { try write("\(folder)/\(name)", text + "\n") }
        try drive(by: "cdc_ncm")
        try link("\(function)/subsystem", to: "bus/usb")
        try link("\(usb)/subsystem", to: "bus/usb")
        try link("class/net/usb0", to: interface)
        try link("\(interface)/device", to: function)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// Puts a file in the place of whatever is there.
    func write(_ path: String, _ text: String) throws { try write(path, bytes: Array(text.utf8)) }

    func write(_ path: String, bytes: [UInt8]) throws {
        try remove(path)
        try createExclusive("\(root)/\(path)", bytes, mode: 0o644)
    }

    func remove(_ path: String) throws {
        let full = "\(root)/\(path)"
        // Nothing may follow a link here.
        guard let facts = fileFacts(full) else { return }
        if facts.isDirectory {
            try FileManager.default.removeItem(atPath: full)
        } else {
            try removeFile(full)
        }
    }

    /// A relative link to what is at `target` below the root, as the kernel writes it.
    func link(_ path: String, to target: String) throws {
        let steps = path.split(separator: "/").count - 1
        try link(path, raw: String(repeating: "../", count: steps) + target)
    }

    func link(_ path: String, raw: String) throws {
        try remove(path)
        try FileManager.default.createSymbolicLink(atPath: "\(root)/\(path)", withDestinationPath: raw)
    }

    func folder(_ path: String) throws {
        try remove(path)
        try makeDirectory("\(root)/\(path)", mode: 0o755)
    }

    /// Binds the function to a driver.
    func drive(by name: String) throws {
        try makeDirectory("\(root)/bus/usb/drivers/\(name)", mode: 0o755)
        try link("\(function)/driver", to: "bus/usb/drivers/\(name)")
    }

    /// A reader of this tree. What it asks the kernel beside is in `network`.
    func reader(_ network: FakeNetwork = FakeNetwork()) -> CableReader {
        CableReader(sysfs: root, network: network.questions, sha256: { Digest.sha256($0) })
    }

    /// The verdict on tree C's source, or another one.
    func judge(
        _ source: String = "fe80::c0d3:1%9", _ network: FakeNetwork = FakeNetwork()
    ) throws -> CableVerdict {
        reader(network).judge(try #require(IPAddress(source)))
    }
}

/// A limit for what must come in time on a machine however slow.
let patience: Duration = .seconds(60)

/// What the kernel says beside tree C.
struct FakeNetwork: Sendable {
    var names: [UInt32: String] = [9: "usb0"]
    var own: [String]? = ["127.0.0.1", "::1", "fe80::11:22ff:fe33:4455%9", "192.168.1.20"]
    var neighbour = NeighbourReading.entry(CableNeighbour(state: 4, address: [0x3a, 0, 0, 0, 0, 1]))
    var links: [CableNetwork.Link]? = []

    var questions: CableNetwork {
        let fake = self
        return CableNetwork(
            interfaceName: { fake.names[$0] },
            ownAddresses: { fake.own?.compactMap { IPAddress($0) } },
            neighbour: { ip, index in
                ip.description == "fe80::c0d3:1" && index == 9 ? fake.neighbour : .none
            },
            links: { fake.links })
    }
}
