// SPDX-License-Identifier: Apache-2.0

import Bytes
import CryptoEngine
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import LatchkeyDevice

/// Dials over real sockets: what is opened is closed, and what wins is what is used.
@Suite("Dial run")
struct DialRunTests {
    /// Takes TCP connections and says nothing. Used by one thread at a time.
    final class SilentPlace: @unchecked Sendable {
        // Sendable: the listener is only read, and what it accepted is asked for by the test alone.
        let port: UInt16
        private let listener: Socket

        init() throws {
            let address = try #require(SocketAddress("127.0.0.1:0"))
            listener = try Socket.tcpListener(address, v6Only: false)
            port = listener.localAddress()?.port ?? 0
        }

        var endpoint: Endpoint { get throws { try Endpoint("127.0.0.1:\(port)") } }

        /// What the next connection sent before it was closed by the other side; nil when nobody is there.
        func heard() throws -> Int? {
            guard try listener.wait(for: .readable, until: monotonicNow()),
                let accepted = try? accept(on: listener)
            else { return nil }
            let socket = accepted.intoSocket()
            let buffer = ByteBuffer(capacity: 0)
            while try socket.wait(for: .readable, until: monotonicNow() + .seconds(5)) {
                if (try? socket.read(into: buffer, max: 65536) ?? 1) ?? 0 == 0 { return buffer.count }
            }
            throw DeviceError(.noAnswer, "the connection stays open")
        }
    }

    static func served(_ hosts: ScriptedHost...) -> [DialCandidate] {
        hosts.compactMap { try? Endpoint($0.endpoint) }.map { DialCandidate($0, door: .remote) }
    }

    @Test("a place that says nothing costs a second, and its socket is closed once another is ready")
    func silentFirst() async throws {
        let silent = try SilentPlace()
        let host = try ScriptedHost(scripts: KeptSessionTests.streaming(1...1))
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        let places = [DialCandidate(try silent.endpoint, door: .remote)] + Self.served(host)
        let report = try await test.device.dial(to: saved, at: places)
        #expect(report.attempts.map(\.outcome) == [.givenUp, .connected])
        #expect(report.winner == 1 && report.error == nil && report.route == "by address")
        let begun = try #require(report.attempts[1].begunAfter)
        #expect(begun >= .seconds(1))
        // A hello of TLS came, and then the end.
        #expect(try silent.heard() ?? 0 > 0)
        #expect(try silent.heard() == nil)
    }

    @Test("two places of one host: the session is the winner's alone")
    func bothReady() async throws {
        let host = try ScriptedHost(scripts: KeptSessionTests.streaming(1...1))
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        let nobody = try Endpoint("127.0.0.1:1")
        let places = [DialCandidate(nobody, door: .remote)] + Self.served(host, host)
        let report = try await test.device.dial(to: saved, at: places)
        #expect(report.attempts.map(\.outcome) == [.failed, .connected, .notTried])
        #expect(report.attempts[0].error?.code == .refused)
        #expect(host.received.count == 1)
    }

    @Test("a dial that is given up closes what it opened")
    func givenUp() async throws {
        let silent = try SilentPlace()
        let host = try ScriptedHost(scripts: { _ in })
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        let place = DialCandidate(try silent.endpoint, door: .remote)
        let dialling = Task { try await test.device.connect(to: saved, at: [place]) }
        try await Task.sleep(for: .milliseconds(200))
        dialling.cancel()
        #expect(await failure { try await dialling.value }?.code == .closed)
        #expect(try silent.heard() ?? 0 > 0)
    }

    @Test("what a session leaves in the record: the address that worked, when, and by which route")
    func record() async throws {
        let host = try ScriptedHost(scripts: KeptSessionTests.streaming(1...1))
        let test = try TemporaryDevice()
        let saved = try test.saved(host)
        // A place that a person named is not one of the host's addresses.
        await (try test.device.connect(to: saved, at: Self.served(host))).close()
        #expect(try test.device.host(saved.id).lastWorked == nil)
        #expect(try test.device.host(saved.id).lastConnectedAt != nil)
        await (try test.device.connect(to: saved)).close()
        #expect(try test.device.host(saved.id).lastWorked == "127.0.0.1|\(host.port)")
        #expect(try test.device.host(saved.id).lastRoute == "by address")
        // A failed dial leaves nothing.
        let before = try test.device.host(saved.id)
        _ = try await test.device.dial(
            to: saved, at: [DialCandidate(try Endpoint("127.0.0.1:1"), door: .remote)])
        #expect(try test.device.host(saved.id) == before)
    }

    // MARK: The device's networks

    static func interface(
        _ index: UInt32, _ name: String, _ kind: InterfaceKind, _ addresses: [String], isUp: Bool = true,
        gateway: String? = nil, isTemporary: Bool = false
    ) -> NetworkInterface {
        NetworkInterface(
            link: LinkFacts(index: index, name: name, isUp: isUp, gateway: gateway.flatMap { IPAddress($0) }),
            kind: kind,
            addresses: addresses.compactMap { IPAddress($0) }.map {
                InterfaceAddress(ip: $0, prefixBits: 24, isTemporary: isTemporary)
            })
    }

    @Test("whether a way uses a tunnel")
    func tunnel() {
        let loopback = Self.interface(1, "lo", .loopback, ["127.0.0.1"])
        let lan = Self.interface(2, "eth0", .lan, ["192.168.1.77"])
        let vpn = Self.interface(3, "tailscale0", .tunnel, ["100.64.0.5"])
        let network = DeviceNetwork(InterfaceTable([loopback, lan, vpn]))
        #expect(network.usesTunnel(from: IPAddress("192.168.1.77")) == false)
        #expect(network.usesTunnel(from: IPAddress("100.64.0.5")) == true)
        #expect(network.usesTunnel(from: IPAddress("10.0.0.1")) == nil)
        #expect(network.usesTunnel(from: nil) == nil)
        #expect(DeviceNetwork(nil).usesTunnel(from: IPAddress("127.0.0.1")) == nil)
        // No way at all: on a network no tunnel was used, off all of them nobody knows.
        #expect(network.usesTunnelWithoutWay == false)
        #expect(DeviceNetwork(InterfaceTable([loopback])).usesTunnelWithoutWay == nil)
        let down = Self.interface(2, "eth0", .lan, ["192.168.1.77"], isUp: false)
        #expect(DeviceNetwork(InterfaceTable([loopback, down])).usesTunnelWithoutWay == nil)
        let linkLocal = Self.interface(2, "eth0", .lan, ["fe80::1"])
        #expect(DeviceNetwork(InterfaceTable([loopback, linkLocal])).usesTunnelWithoutWay == nil)
    }

    @Test("whether the device's way is another one")
    func way() throws {
        func way(_ interfaces: NetworkInterface...) -> [String] {
            DeviceNetwork(InterfaceTable(interfaces)).way
        }
        let home = Self.interface(2, "wlan0", .lan, ["192.168.1.77"], gateway: "192.168.1.1")
        let before = way(home)
        #expect(way(home, Self.interface(1, "lo", .loopback, ["127.0.0.1"])) == before)
        #expect(way(home, Self.interface(9, "docker0", .other, ["172.17.0.1"])) == before)
        #expect(way(home, Self.interface(3, "eth0", .lan, ["10.0.0.5"], isUp: false)) == before)
        #expect(way(home, Self.interface(3, "wg0", .tunnel, ["10.8.0.2"])) != before)
        #expect(way(Self.interface(2, "wlan0", .lan, ["10.0.0.5"], gateway: "10.0.0.1")) != before)
        #expect(way(Self.interface(2, "wlan0", .lan, ["192.168.1.77"], gateway: "192.168.1.2")) != before)
        #expect(way() != before)
        // A privacy address comes and goes by itself.
        let address = try #require(IPAddress("2001:db8::77"))
        var renewed = home
        renewed.addresses.append(InterfaceAddress(ip: address, prefixBits: 64, isTemporary: true))
        #expect(way(renewed) == before)
    }
}
