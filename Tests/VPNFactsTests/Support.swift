// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Synchronization
import SystemBus
import Wire

@testable import VPNFacts

func ip(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(v4: 0) }

/// What was seen by other threads; a test waits for what it expects.
final class Seen<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let flag: WakeUp

    init() throws { flag = try WakeUp() }

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) {
        values.withLock { $0.append(value) }
        flag.signal()
    }

    /// Everything so far, once there are `count`; waits in full only for what never comes.
    func wait(for count: Int) -> [Value] {
        let deadline = monotonicNow() + .seconds(30)
        while all.count < count, flag.wait(until: deadline) { flag.clear() }
        return all
    }
}

/// A directory of the test's own; gone when this ends.
final class Scratch: Sendable {
    // Short, for sockets.
    let path = NSTemporaryDirectory() + "lk-" + UUID().uuidString.prefix(8)
    init() throws { try makeDirectory(path, mode: 0o700) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Nothing of the machine's is in these.
    var places: Places {
        var places = Places()
        places.tailscale = [path + "/none.sock", path + "/ts.sock"]
        places.zeroTierToken = path + "/zerotier/token"
        places.resolver = path + "/resolv.conf"
        places.processes = path + "/proc"
        places.bus.address = "unix:path=\(path)/bus"
        return places
    }

    func setMode(_ name: String, _ mode: mode_t) { _ = unsafe chmod(path + "/" + name, mode) }

    func makePipe(_ name: String) { _ = unsafe mkfifo(path + "/" + name, 0o600) }

    func write(_ name: String, _ text: String) throws {
        let file = path + "/" + name
        try makeDirectory(directory(of: file), mode: 0o700)
        try createExclusive(file, Array(text.utf8), mode: 0o600)
    }
}

/// How a stand-in treats one request.
enum Reply: Sendable {
    case status(Int, String)
    /// As it is, then the end.
    case raw(String)
    /// As it is, and then nothing.
    case hang(String)
    /// Without an end.
    case endless
}

/// An HTTP server on a Unix socket or a loopback port that does what a test says: a request's target to its reply.
final class StandIn: Sendable {
    let requests: Seen<String>
    let port: UInt16
    private let descriptor: Int32
    private let open = Mutex<[Int32]>([])
    private let isStopped = Mutex(false)

    /// At a path.
    convenience init(_ path: String, _ reply: @escaping @Sendable (String) -> Reply) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let bound = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try self.init(descriptor, isBound: bound == 0, port: 0, reply)
    }

    /// At a free port of 127.0.0.1.
    convenience init(tcp reply: @escaping @Sendable (String) -> Reply) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try self.init(descriptor, isBound: bound, port: UInt16(bigEndian: address.sin_port), reply)
    }

    struct CannotListen: Error {}

    private init(
        _ descriptor: Int32, isBound: Bool, port: UInt16, _ reply: @escaping @Sendable (String) -> Reply
    ) throws {
        guard isBound, listen(descriptor, 32) == 0 else { throw CannotListen() }
        self.descriptor = descriptor
        self.port = port
        requests = try Seen()
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else {
                    // Closed here alone: elsewhere its number could be another's listener when this accepts.
                    close(descriptor)
                    return
                }
                open.withLock { $0.append(client) }
                Thread.detachNewThread { [self] in serve(client, reply) }
            }
        }
    }

    private func serve(_ client: Int32, _ reply: (String) -> Reply) {
        var text = ""
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !text.contains("\r\n\r\n") {
            let count = unsafe recv(client, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            text += String(decoding: chunk[..<count], as: UTF8.self)
        }
        requests.add(text)
        let target = String(text.split(separator: " ")[1])
        switch reply(target) {
        case .status(let status, let body):
            say(client, "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        case .raw(let text): say(client, text)
        case .hang(let text):
            say(client, text)
            return
        case .endless:
            say(client, "HTTP/1.1 200 OK\r\n\r\n")
            while say(client, String(repeating: "x", count: 4096)) {}
        }
        _ = shutdown(client, Int32(SHUT_WR))
    }

    @discardableResult
    private func say(_ client: Int32, _ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends something more to everybody connected.
    func tell(_ text: String) { for client in open.withLock({ $0 }) { say(client, text) } }

    /// Ends every connection.
    func drop() {
        for client in open.withLock({ $0 }) { _ = shutdown(client, Int32(SHUT_RDWR)) }
    }

    /// Listens no more; the socket's file stays, as after a crash.
    func stop() {
        guard
            isStopped.withLock({ stopped in
                defer { stopped = true }
                return !stopped
            })
        else { return }
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
        drop()
    }

    deinit { stop() }
}

/// What tailscaled answers.
enum Answers {
    static let running = """
        {"Version":"1.76.6","TUN":true,"BackendState":"Running","TailscaleIPs":["100.88.123.45","fd7a:115c:a1e0::abcd:ef01"],
        "Self":{"ID":"n1","HostName":"Lab","DNSName":"Lab-Host.tail5678.ts.net.","TailscaleIPs":["100.88.123.45"],
        "Online":true},"Health":[],"MagicDNSSuffix":"tail5678.ts.net","CurrentTailnet":{"Name":"a@example.com",
        "MagicDNSSuffix":"tail5678.ts.net","MagicDNSEnabled":true},"ExitNodeStatus":null,"Peer":null,"User":null}
        """
    static let userspace = running.replacing("\"TUN\":true", with: "\"TUN\":false")
    static let prefs = """
        {"ControlURL":"https://controlplane.tailscale.com","ShieldsUp":false,"CorpDNS":true,"ExitNodeID":"",
        "ExitNodeIP":"","ExitNodeAllowLANAccess":false}
        """

    /// A daemon that is well.
    static func well(_ target: String) -> Reply {
        switch target {
        case "/localapi/v0/status?peers=false": .status(200, running)
        case "/localapi/v0/prefs": .status(200, prefs)
        default: .status(404, "not found")
        }
    }
}

/// Links as netlink has them.
enum Links {
    static func link(
        _ name: String, _ index: UInt32, kind: String? = nil, _ addresses: [String] = [], isUp: Bool = true
    ) -> NetworkInterface {
        let facts = LinkFacts(
            index: index, name: name, hardwareType: kind == nil ? 1 : 65534, isPointToPoint: kind != nil,
            isUp: isUp, infoKind: kind, isPhysical: kind == nil)
        let own = addresses.map {
            InterfaceAddress(ip: ip($0), prefixBits: ip($0).family == .v4 ? 32 : 128)
        }
        return NetworkInterface(
            link: facts, kind: InterfaceKindPolicy.kind(of: facts, addresses: own), addresses: own)
    }

    static let lan = link("eth0", 2, ["192.168.1.20"])
    static let tailscale = link("tailscale0", 3, kind: "tun", ["100.88.123.45", "fd7a:115c:a1e0::abcd:ef01"])

    static func table(_ links: NetworkInterface...) -> InterfaceTable { InterfaceTable([lan] + links) }
}
