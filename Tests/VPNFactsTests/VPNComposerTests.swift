// SPDX-License-Identifier: Apache-2.0

import Policy
import Sockets
import Testing
import Wire

@testable import VPNFacts

@Suite("Which VPNs there are")
struct VPNComposerTests {
    /// One VPN in short: product, label, link, and what is said of it.
    static func short(_ vpn: VPNEvidence) -> String {
        var words = [vpn.product.rawValue]
        if let label = vpn.label { words.append("(\(label))") }
        if let link = vpn.interface { words.append("@\(link)") }
        if let status = vpn.daemonStatus { words.append("=\(status)") }
        if let state = vpn.tailscale?.backendState { words.append("=\(state)") }
        if vpn.isUnreadable { words.append("unreadable") }
        if vpn.isSilent { words.append("silent") }
        if vpn.hasSocket { words.append("socket") }
        if !vpn.isSetUp { words.append("not set up") }
        return words.joined(separator: " ")
    }

    static func facts(_ change: (inout VPNComposer.Facts) -> Void) -> VPNComposer.Facts {
        var facts = VPNComposer.Facts()
        change(&facts)
        return facts
    }

    static func unit(
        _ name: String, active: Bool = false, enabled: Bool = true, process: UInt32? = nil
    ) -> BusFacts.Unit {
        BusFacts.Unit(name: name + ".service", isActive: active, isEnabled: enabled, process: process)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var links: [NetworkInterface] = []
        var facts = VPNComposer.Facts()
        var want: [String]
    }

    static let tun0 = Links.link("tun0", 10, kind: "tun", ["10.8.0.2"])
    static let tun1 = Links.link("tun1", 11, kind: "tun", ["10.9.0.2"])
    static let wg0 = Links.link("wg0", 12, kind: "wireguard", ["10.99.0.2"])
    static let zt = Links.link("ztabcdef01", 13, kind: "tun", ["10.147.17.2"])
    static let running = TailscaleEvidence(backendState: "Running")

    static func daemon(_ state: TailscaleDaemon.State, _ evidence: TailscaleEvidence? = nil)
        -> VPNComposer.Facts
    {
        facts { $0.tailscale = TailscaleDaemon.Reading(state: state, evidence: evidence) }
    }

    static let rows: [Row] = [
        Row(testDescription: "nothing", want: []),
        Row(
            testDescription: "Tailscale, asked", links: [Links.tailscale], facts: daemon(.answered, running),
            want: ["Tailscale @tailscale0 =Running socket"]),
        Row(
            testDescription: "a daemon that hangs: its link counts", links: [Links.tailscale],
            facts: daemon(.silent), want: ["Tailscale @tailscale0 silent socket"]),
        Row(
            testDescription: "one that may not be asked", links: [Links.tailscale],
            facts: daemon(.unreadable),
            want: ["Tailscale @tailscale0 unreadable socket"]),
        Row(
            testDescription: "a link and no socket here", links: [Links.tailscale], facts: daemon(.absent),
            want: ["Tailscale @tailscale0 unreadable"]),
        Row(
            testDescription: "a socket that a crash left", facts: daemon(.down), want: ["Tailscale"]),
        Row(
            testDescription: "an enabled unit, no socket",
            facts: facts { $0.bus.units = [unit("tailscaled")] }, want: ["Tailscale"]),
        Row(
            testDescription: "user space", facts: daemon(.answered, userspace),
            want: ["Tailscale =Running socket"]),
        Row(
            testDescription: "a link of another name, known by its addresses",
            links: [Links.link("utun9", 4, kind: "tun", ["100.88.123.45"])],
            facts: daemon(.answered, withAddress), want: ["Tailscale @utun9 =Running socket"]),
        Row(
            testDescription: "WireGuard links, and one that is missing", links: [wg0],
            facts: facts { $0.bus.units = [unit("wg-quick@wg0", active: true), unit("wg-quick@home")] },
            want: ["WireGuard @wg0", "WireGuard (home) @home"]),
        Row(
            testDescription: "the only WireGuard is down",
            facts: facts { $0.bus.units = [unit("wg-quick@wg0")] }, want: ["WireGuard @wg0"]),
        Row(
            testDescription: "a unit that is neither enabled nor runs",
            facts: facts { $0.bus.units = [unit("wg-quick@wg0", enabled: false)] }, want: []),
        Row(
            testDescription: "a tun that nobody knows is the table's alone", links: [tun0], want: []),
        Row(
            testDescription: "OpenVPN by the process of its unit", links: [tun0, tun1],
            facts: facts {
                $0.bus.units = [
                    unit("openvpn-client@office", active: true, process: 40),
                    unit("openvpn-client@home", active: true, process: 41),
                ]
                $0.owners = [
                    "tun0": Processes.Owner(process: 41, name: "openvpn"),
                    "tun1": Processes.Owner(process: 40, name: "openvpn"),
                ]
            }, want: ["OpenVPN (home) @tun0", "OpenVPN (office) @tun1"]),
        Row(
            testDescription: "OpenVPN by being the only one", links: [tun0],
            facts: facts { $0.bus.units = [unit("openvpn-client@office", active: true)] },
            want: ["OpenVPN (office) @tun0"]),
        Row(
            testDescription: "two of each, and nobody may say which is which", links: [tun0, tun1],
            facts: facts {
                $0.bus.units = [unit("openvpn@a", active: true), unit("openvpn@b", active: true)]
            }, want: []),
        Row(
            testDescription: "OpenVPN that is down", facts: facts { $0.bus.units = [unit("openvpn@office")] },
            want: ["OpenVPN (office)"]),
        Row(
            testDescription: "OpenVPN started by hand", links: [tun0],
            facts: facts { $0.owners = ["tun0": Processes.Owner(process: 9, name: "openvpn")] },
            want: ["OpenVPN @tun0"]),
        Row(
            testDescription: "the kernel's OpenVPN",
            links: [Links.link("ovpn0", 9, kind: "ovpn", ["10.8.0.6"])],
            want: ["OpenVPN @ovpn0"]),
        Row(
            testDescription: "Nebula by its process, NetBird by its link",
            links: [tun0, Links.link("wt0", 14, kind: "wireguard", ["100.64.1.2"])],
            facts: facts { $0.owners = ["tun0": Processes.Owner(process: 9, name: "nebula")] },
            want: ["NetBird @wt0", "Nebula @tun0"]),
        Row(
            testDescription: "Nebula, NetBird and ZeroTier that are down",
            facts: facts { $0.bus.units = [unit("nebula"), unit("netbird"), unit("zerotier-one")] },
            want: ["NetBird", "Nebula", "ZeroTier"]),
        Row(
            testDescription: "ZeroTier's networks", links: [zt],
            facts: facts {
                $0.zeroTier = .answered([
                    ZeroTierDaemon.Network(name: "home", status: "OK", interface: "ztabcdef01"),
                    ZeroTierDaemon.Network(name: "work", status: "ACCESS_DENIED", interface: nil),
                ])
            }, want: ["ZeroTier @ztabcdef01 =OK socket", "ZeroTier (work) =ACCESS_DENIED socket"]),
        Row(
            testDescription: "ZeroTier without its token", links: [zt],
            facts: facts { $0.zeroTier = .unreadable },
            want: ["ZeroTier @ztabcdef01 unreadable"]),
        Row(
            testDescription: "ZeroTier in no network",
            facts: facts {
                $0.zeroTier = .answered([])
                $0.bus.units = [unit("zerotier-one", active: true)]
            }, want: []),
        Row(
            testDescription: "NetworkManager's profiles", links: [tun0, tun1, wg0],
            facts: facts {
                $0.bus.profiles = [
                    BusFacts.Profile(
                        name: "Office", type: "vpn", service: "org.freedesktop.NetworkManager.openvpn",
                        isActive: true, addresses: [ip("10.8.0.2")]),
                    BusFacts.Profile(
                        name: "Uni", type: "vpn", service: "org.freedesktop.NetworkManager.vpnc",
                        isActive: false),
                    BusFacts.Profile(name: "Tunnel", type: "tun", isActive: true, interface: "tun1"),
                    BusFacts.Profile(name: "Unused", type: "tun", interface: "tun7"),
                    BusFacts.Profile(name: "WG", type: "wireguard", isActive: true, interface: "wg0"),
                    BusFacts.Profile(name: "WG two", type: "wireguard", interface: "wg9"),
                ]
            },
            want: [
                "WireGuard @wg0", "WireGuard (wg9) @wg9", "OpenVPN (Office) @tun0", "VPN (Uni)",
                "VPN (Tunnel) @tun1",
            ]),
    ]

    static let userspace: TailscaleEvidence = {
        var evidence = TailscaleEvidence(backendState: "Running")
        evidence.hasTUN = false
        evidence.addresses = [ip("100.88.123.45")]
        return evidence
    }()

    static let withAddress: TailscaleEvidence = {
        var evidence = TailscaleEvidence(backendState: "Running")
        evidence.addresses = [ip("100.88.123.45")]
        return evidence
    }()

    @Test(arguments: rows) func compose(_ row: Row) {
        let found = VPNComposer.compose(InterfaceTable([Links.lan] + row.links), row.facts)
        #expect(found.map(Self.short) == row.want)
    }

    @Test("no more than a page of them")
    func most() {
        let facts = Self.facts { facts in
            facts.bus.units = (0..<500).map { Self.unit("openvpn@x\($0)") }
        }
        #expect(VPNComposer.compose(InterfaceTable([]), facts).count == 64)
    }

    @Test(
        "ZeroTier's answers",
        arguments: [
            (#"[{"name":"home","status":"OK","portDeviceName":"zt1"}]"#, ["home/OK/zt1"]),
            (#"[{"status":"NOT_FOUND","portDeviceName":""}]"#, ["/NOT_FOUND/-"]), ("[]", []),
            (#"{"a":1}"#, nil), (#"[{"name":"x"}]"#, nil), (#"[{"status":1}]"#, nil), ("", nil),
        ] as [(String, [String]?)])
    func networks(_ text: String, _ want: [String]?) {
        let found = try? ZeroTierDaemon.networks(Array(text.utf8))
        #expect(found?.map { "\($0.name)/\($0.status)/\($0.interface ?? "-")" } == want)
    }

    @Test("owners and listeners, from a process file system")
    func processes() throws {
        let scratch = try Scratch()
        try scratch.write("proc/41/comm", "openvpn\n")
        try scratch.write("proc/41/fdinfo/5", "pos:\t0\nflags:\t02\niff:\ttun3\n")
        try scratch.write("proc/42/comm", "qemu\n")
        try scratch.write("proc/42/fdinfo/5", "iff:\ttap0\n")
        try scratch.write("proc/self/comm", "nebula\n")
        try scratch.write(
            "proc/net/tcp",
            """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:2709 00000000:0000 0A 00000000:00000000 00:00000000 00000000   107        0 31 1 x
               1: 0100007F:270A 0100007F:0016 01 00000000:00000000 00:00000000 00000000     5        0 31 1 x
            """)
        let processes = Processes(root: scratch.path + "/proc")
        #expect(
            processes.tunOwners(until: monotonicNow() + .seconds(60)) == [
                "tun3": Processes.Owner(process: 41, name: "openvpn")
            ])
        #expect(processes.listener(port: 9993) == 107)
        #expect(processes.listener(port: 9994) == nil)
        #expect(Processes(root: scratch.path + "/none").listener(port: 9993) == nil)
    }
}
