// SPDX-License-Identifier: Apache-2.0

import Sockets
import Synchronization
import SystemBus
import Testing
import Wire

@testable import VPNFacts

/// What systemd, NetworkManager and systemd-resolved say of VPNs, on a bus of the test's own.
@Suite("VPNs on the bus")
struct VPNBusTests {
    static let systemd = "org.freedesktop.systemd1"
    static let network = "org.freedesktop.NetworkManager"

    static func read(_ daemon: TestDaemon, within limit: Duration = .seconds(20)) -> BusFacts {
        BusReading.read(daemon.place, by: monotonicNow() + limit)
    }

    static func unit(_ name: String, _ state: String) -> BusValue {
        .structure([
            .string(name), .string("words"), .string("loaded"), .string(state), .string("x"), .string(""),
            .objectPath("/unit/" + name.split { "@.-".contains($0) }.joined(separator: "_")), .uint32(0),
            .string(""),
            .objectPath("/"),
        ])
    }

    static let unitRow = "(ssssssouso)"

    /// A systemd with one VPN of each state.
    static func manager(_ call: PeerCall) -> PeerReply {
        switch call.member {
        case "ListUnitFilesByPatterns":
            return .values([
                .array(
                    of: "(ss)",
                    [
                        .structure([.string("/lib/systemd/system/tailscaled.service"), .string("enabled")]),
                        .structure([.string("/lib/systemd/system/openvpn@.service"), .string("enabled")]),
                    ])
            ])
        case "ListUnitsByPatterns":
            return .values([
                .array(
                    of: unitRow,
                    [
                        unit("openvpn-client@office.service", "active"),
                        unit("wg-quick@wg0.service", "failed"),
                        unit("wg-quick@old.service", "inactive"),
                    ])
            ])
        case "GetUnitFileState":
            guard let name = call.arguments.first?.text else { return .error("x.y.Z") }
            return .values([.string(name.contains("old") ? "disabled" : "enabled")])
        case "Get": return .values([.variant(.uint32(4711))])
        default: return .error("org.freedesktop.DBus.Error.UnknownMethod")
        }
    }

    @Test("units: enabled, running, and those that are neither")
    func units() throws {
        let daemon = try TestDaemon()
        let calls = Mutex<[PeerCall]>([])
        let peer = try TestPeer(daemon.address, name: Self.systemd) { call in
            calls.withLock { $0.append(call) }
            return Self.manager(call)
        }
        let found = Self.read(daemon)
        #expect(found.unitState == .answered)
        #expect(found.profileState == .absent)
        #expect(
            Set(found.units.map { "\($0.name) \($0.isActive) \($0.isEnabled) \($0.process ?? 0)" }) == [
                "tailscaled.service false true 0", "openvpn-client@office.service true true 4711",
                "wg-quick@wg0.service false true 0",
            ])
        // Nobody is asked what else there is.
        for call in calls.withLock({ $0 }) where call.member.hasSuffix("ByPatterns") {
            #expect(call.arguments.last == .strings(BusLook.patterns))
        }
        peer.stop()
    }

    static func properties(_ values: [(String, BusValue)]) -> BusValue {
        .array(of: "{sv}", values.map { .entry(.string($0.0), .variant($0.1)) })
    }

    static func settings(_ groups: [(String, [(String, BusValue)])]) -> PeerReply {
        .values([
            .array(of: "{sa{sv}}", groups.map { .entry(.string($0.0), properties($0.1)) })
        ])
    }

    static func profile(_ name: String, _ type: String, _ more: [(String, BusValue)] = []) -> (
        String, [(String, BusValue)]
    ) {
        ("connection", [("id", .string(name)), ("type", .string(type))] + more)
    }

    /// A NetworkManager with a VPN in use, one that is not, a WireGuard and a Wi-Fi network.
    static func manager(ofNetworks call: PeerCall) -> PeerReply {
        switch (call.member, call.path) {
        case ("ListConnections", _):
            return .values([.array(of: "o", ["/s/1", "/s/2", "/s/3", "/s/4"].map(BusValue.objectPath))])
        case ("GetSettings", "/s/1"):
            return settings([
                profile("Of\u{202e}fice\n", "vpn"),
                ("vpn", [("service-type", .string("org.freedesktop.NetworkManager.openvpn"))]),
            ])
        case ("GetSettings", "/s/2"): return settings([profile("Uni", "vpn")])
        case ("GetSettings", "/s/3"):
            return settings([profile("WG", "wireguard", [("interface-name", .string("wg7"))])])
        case ("GetSettings", "/s/4"): return settings([profile("My secret Wi-Fi", "802-11-wireless")])
        case ("Get", _):
            switch call.arguments.last?.text {
            case "ActiveConnections":
                return .values([.variant(.array(of: "o", ["/a/1", "/a/3", "/a/4"].map(BusValue.objectPath)))])
            case "AddressData":
                return .values([
                    .variant(
                        .array(
                            of: "a{sv}",
                            [properties([("address", .string("10.8.0.2")), ("prefix", .uint32(24))])]))
                ])
            case "Interface": return .values([.variant(.string("wg7"))])
            default: return .error("x.y.Z")
            }
        case ("GetAll", "/a/1"):
            return .values([
                properties([
                    ("Type", .string("vpn")), ("State", .uint32(2)), ("Connection", .objectPath("/s/1")),
                    ("Ip4Config", .objectPath("/ip/1")),
                    ("Devices", .array(of: "o", [.objectPath("/d/eth0")])),
                ])
            ])
        case ("GetAll", "/a/3"):
            return .values([
                properties([
                    ("Type", .string("wireguard")), ("State", .uint32(2)),
                    ("Connection", .objectPath("/s/3")),
                    ("Devices", .array(of: "o", [.objectPath("/d/wg7")])),
                ])
            ])
        case ("GetAll", _):
            return .values([properties([("Type", .string("802-11-wireless")), ("State", .uint32(2))])])
        default: return .error("x.y.Z")
        }
    }

    @Test("profiles of VPNs, in use or not, and no others")
    func profiles() throws {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: Self.network) { Self.manager(ofNetworks: $0) }
        let found = Self.read(daemon)
        #expect(found.profileState == .answered)
        #expect(
            found.profiles == [
                BusFacts.Profile(
                    name: "Office", type: "vpn", service: "org.freedesktop.NetworkManager.openvpn",
                    isActive: true,
                    interface: nil, addresses: [IPAddress("10.8.0.2")].compactMap { $0 }),
                BusFacts.Profile(name: "Uni", type: "vpn"),
                BusFacts.Profile(name: "WG", type: "wireguard", isActive: true, interface: "wg7"),
            ])
        #expect(!"\(found)".contains("secret"))
        peer.stop()
    }

    @Test("search domains of systemd-resolved")
    func domains() throws {
        let daemon = try TestDaemon()
        let peer = try TestPeer(daemon.address, name: "org.freedesktop.resolve1") { _ in
            .values([
                .variant(
                    .array(
                        of: "(isb)",
                        [
                            .structure([.int32(3), .string("tail5678.ts.net"), .bool(false)]),
                            .structure([.int32(0), .string("example.org"), .bool(true)]),
                        ]))
            ])
        }
        #expect(Self.read(daemon).domains == ["tail5678.ts.net", "example.org"])
        peer.stop()
    }

    @Test("what answers of others is kept when one hangs")
    func hanging() throws {
        let daemon = try TestDaemon()
        let answered = try Told<Int>()
        let well = try TestPeer(daemon.address, name: Self.systemd) { Self.manager($0) }
        let silent = try TestPeer(daemon.address, name: Self.network) { _ in
            answered.add(0)
            return .silence
        }
        let found = Self.read(daemon, within: .seconds(2))
        #expect(found.profileState != .answered)
        #expect(found.profiles.isEmpty)
        #expect(found.unitState == .answered)
        well.stop()
        silent.stop()
    }

    @Test(
        "answers that are none",
        arguments: [
            PeerReply.error("x.y.Z"), .values([]), .values([.string("x")]),
            .values([.array(of: "s", [.string("x")])]),
            .values([.array(of: "(ss)", [])]), .values([.variant(.string("x"))]),
        ])
    func garbage(_ reply: PeerReply) throws {
        let daemon = try TestDaemon()
        let peers = try [Self.systemd, Self.network, "org.freedesktop.resolve1"].map { name in
            try TestPeer(daemon.address, name: name) { _ in reply }
        }
        let found = Self.read(daemon)
        #expect(found.units.isEmpty && found.profiles.isEmpty && found.domains.isEmpty)
        for peer in peers { peer.stop() }
    }

    @Test("no bus, and one that stands still")
    func noBus() throws {
        let daemon = try TestDaemon()
        daemon.freeze()
        #expect(Self.read(daemon, within: .milliseconds(300)) == BusFacts())
        daemon.thaw()
        daemon.stop()
        #expect(Self.read(daemon) == BusFacts())
    }
}
