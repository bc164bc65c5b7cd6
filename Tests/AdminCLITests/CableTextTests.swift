// SPDX-License-Identifier: Apache-2.0

import NetFacts
import Policy
import Testing

@testable import AdminCLI

@Suite("print-cable")
struct CableTextTests {
    static let reports = [
        CableReport(
            interface: "usb0", index: 9, driver: "cdc_ncm", vendor: "05ac", productID: "12a8",
            product: "iPhone",
            reason: nil, hasLinkLocal: true, neighbours: 1, plug: "3:17/9"),
        CableReport(
            interface: "usb1", index: 11, driver: "cdc_ncm", vendor: "05ac", productID: "12a8",
            product: "iPhone", reason: nil, hasLinkLocal: false, neighbours: 0, plug: "3:18/11"),
        CableReport(
            interface: "eth1", index: 5, driver: "ipheth", vendor: "05ac", productID: "12a8",
            product: "iPhone",
            reason: .personalHotspot, hasLinkLocal: true, neighbours: 0),
        CableReport(
            interface: "enp2s0", index: 2, driver: "r8169", reason: .notUSB, hasLinkLocal: true, neighbours: 4
        ),
        CableReport(interface: "docker0", index: 3, reason: .notUSB, hasLinkLocal: false, neighbours: 0),
    ]

    @Test("the table of 04 §8")
    func table() {
        let console = TestConsole()
        console.cables = Self.reports
        #expect(console.run("print-cable") == 0)
        #expect(
            console.output == """
                INTERFACE  DRIVER   PRODUCT  CABLE  WHY
                usb0       cdc_ncm  iPhone   yes
                usb1       cdc_ncm  iPhone   yes    but no IPv6 link-local address: enable IPv6 on it
                eth1       ipheth   iPhone   no     personalHotspot
                enp2s0     r8169    -        no     notUSB
                docker0    -        -        no     notUSB

                """)
        #expect(console.errors.isEmpty)
    }

    @Test("the same as JSON, one object an interface")
    func json() {
        let console = TestConsole()
        console.cables = [Self.reports[0], Self.reports[1], Self.reports[3]]
        #expect(console.run("print-cable", "--json") == 0)
        let first =
            #"{"interface":"usb0","index":9,"driver":"cdc_ncm","vendor":"05ac","productID":"12a8","product":"iPhone","#
            + #""cable":true,"reason":null,"linkLocal":true,"neighbours":1,"plug":"3:17/9"}"#
        let second =
            #"{"interface":"usb1","index":11,"driver":"cdc_ncm","vendor":"05ac","productID":"12a8","product":"iPhone","#
            + #""cable":true,"reason":null,"linkLocal":false,"neighbours":0,"plug":"3:18/11"}"#
        let third =
            #"{"interface":"enp2s0","index":2,"driver":"r8169","vendor":null,"productID":null,"product":null,"#
            + #""cable":false,"reason":"notUSB","linkLocal":true,"neighbours":4,"plug":null}"#
        #expect(console.output == "[\(first),\(second),\(third)]\n")
    }

    @Test("1 when no interface is the cable, and when the kernel does not say")
    func none() {
        let console = TestConsole()
        console.cables = Array(Self.reports[2...])
        #expect(console.run("print-cable") == 1 && console.errors.isEmpty)
        console.cables = []
        console.output = ""
        #expect(console.run("print-cable", "--json") == 1 && console.output == "[]\n")
        console.cables = nil
        #expect(console.run("print-cable") == 1)
        #expect(console.errors.contains("the kernel does not list the network interfaces"))
    }

    @Test("what a device calls itself cannot steer a terminal; a program gets it as it is")
    func hostile() {
        let console = TestConsole()
        console.outputIsTerminal = true
        console.cables = [
            CableReport(
                interface: "usb0", index: 9, driver: "r8152", vendor: "0bda", productID: "8153",
                product: "\u{1B}[2J iPhone\n" + String(repeating: "x", count: 200), reason: .wrongFunction,
                hasLinkLocal: true, neighbours: 0)
        ]
        #expect(console.run("print-cable", "--no-color") == 1)
        #expect(!console.output.contains("\u{1B}") && console.output.split(separator: "\n").count == 2)
        #expect(console.output.contains("[2J iPhone xxxx") && console.output.count < 200)
        console.output = ""
        #expect(console.run("print-cable", "--json") == 1)
        #expect(console.output.contains(#""product":"\u001b[2J iPhone\n"#))
    }
}
