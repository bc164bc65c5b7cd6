// SPDX-License-Identifier: Apache-2.0

import Bytes
import EventLoop
import Policy
import Sockets
import Synchronization
import Wire

@testable import RouterProbe

/// A router in a file (05 B14): UDP and TCP on loopback addresses, saying what the test tells it to.
final class ScriptedRouter: Sendable {
    static let gateway = ip("127.0.7.1")
    static let lan = ip("127.0.7.2")
    static let stranger = ip("127.0.7.9")
    /// The gateway's IPv6, and the address that asks it: loopback has only one.
    static let gateway6 = ip("::1")

    /// What a connection gets after its request, in order.
    enum Step: Sendable {
        case send(String)
        /// One byte at a time, without end.
        case trickle
        case repeating(String)
        case hold
    }

    struct Request: Sendable {
        /// The one that was dialled: the gateway, by IPv4 or IPv6, or the stranger.
        let host: IPAddress
        let path: String
        /// The `Host` field.
        let name: String
        /// Of a SOAP call.
        let action: String?
        let body: String
    }

    struct Script: Sendable {
        /// Answers to a datagram at the port of NAT-PMP; nil: nobody listens there.
        var natpmp: (@Sendable ([UInt8]) -> [[UInt8]])? = { _ in [] }
        /// Answers to a search: who sends which location. `GW` and `ST` stand for `host:port` of the two.
        var search: [(from: IPAddress, location: String)] = []
        /// Only a search to the gateway alone is answered.
        var isDeafToGroup = false
        /// The gateway hears IPv6 too, at the same port.
        var hearsIPv6 = false
        var http: @Sendable (Request) -> [Step] = { _ in [.send(notFound)] }
    }

    static let notFound = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    let ports: RouterPorts
    private let script: Script
    private let mapping: Socket
    private let search: Socket
    private let group: Socket
    private let strange: Socket
    private let web: Socket
    private let strangeWeb: Socket
    private let web6: Holder?
    private let stop: WakeUp
    private let threads = Mutex<[JoinHandle]>([])
    private let log = Mutex<[Request]>([])
    private let datagramLog = Mutex<[[UInt8]]>([])

    init(_ script: Script) throws {
        self.script = script
        mapping = try Socket.datagram(from: LocalEnd(ip: Self.gateway))
        search = try Socket.datagram(from: LocalEnd(ip: Self.gateway))
        group = try Socket.datagram(from: LocalEnd(ip: Self.gateway))
        strange = try Socket.datagram(from: LocalEnd(ip: Self.stranger))
        web6 =
            try script.hearsIPv6
            ? Holder(Socket.tcpListener(SocketAddress(ip: Self.gateway6, port: 0), v6Only: true)) : nil
        let port = web6?.socket.localAddress()?.port ?? 0
        web = try Socket.tcpListener(SocketAddress(ip: Self.gateway, port: port), v6Only: false)
        strangeWeb = try Socket.tcpListener(SocketAddress(ip: Self.stranger, port: 0), v6Only: false)
        stop = try WakeUp()
        var ports = RouterPorts()
        ports.searchGroup = SocketAddress(ip: Self.gateway, port: group.localAddress()?.port ?? 0)
        ports.search = search.localAddress()?.port ?? 0
        // Port 1 of loopback is never open.
        ports.mapping = script.natpmp == nil ? 1 : mapping.localAddress()?.port ?? 0
        self.ports = ports
        let thread = try runThread(name: "test router") { [self] in run() }
        threads.withLock { $0.append(thread) }
    }

    func end() {
        stop.signal()
        while let thread = threads.withLock({ $0.popLast() }) { thread.join() }
    }

    /// Paths and actions that were asked for, in order, with the host in front when it is not the gateway's IPv4.
    var requests: [String] {
        asked.map { ($0.host == Self.gateway ? "" : "\($0.host) ") + ($0.action ?? $0.path) }
    }
    /// The same in full.
    var asked: [Request] { log.withLock { $0 } }
    /// What came to the port of NAT-PMP.
    var datagrams: [[UInt8]] { datagramLog.withLock { $0 } }

    func prober(lookups: NameLookups = NameLookups(), times: RouterTimes = .whole) -> RouterProber {
        RouterProber(ports: ports, lookups: lookups, times: times)
    }

    static func question() -> RouterQuestion {
        RouterQuestion(
            gateway: gateway, lan: lan, prefixBits: 24, interface: "lo",
            interfaceIndex: interfaceIndex("lo") ?? 1,
            outsidePort: 7455)
    }

    static var link: LANLink { LANLink(question()) }
    /// The same with the gateway's IPv6.
    static var link6: LANLink {
        var link = link
        link.gateway6 = gateway6
        return link
    }

    private func run() {
        let descriptors = [
            mapping.descriptor, search.descriptor, group.descriptor, web.descriptor, strangeWeb.descriptor,
            stop.descriptor, web6?.socket.descriptor ?? -1,
        ]
        while let ready = try? waitReadable(descriptors, until: nil), !ready[5] {
            if ready[0] { answerMapping() }
            if ready[1] { answerSearch(search) }
            if ready[2] {
                if script.isDeafToGroup {
                    _ = try? group.receiveDatagram(max: 2048)
                } else {
                    answerSearch(group)
                }
            }
            if ready[3] { take(web, Self.gateway) }
            if ready[4] { take(strangeWeb, Self.stranger) }
            if ready[6], let web6 { take(web6.socket, Self.gateway6) }
        }
    }

    private func answerMapping() {
        guard let asked = try? mapping.receiveDatagram(max: 1100) else { return }
        datagramLog.withLock { $0.append(asked.bytes) }
        for answer in script.natpmp?(asked.bytes) ?? [] { try? mapping.sendDatagram(answer, to: asked.from) }
    }

    private func answerSearch(_ socket: borrowing Socket) {
        guard let asked = try? socket.receiveDatagram(max: 2048) else { return }
        for (source, location) in script.search {
            let place = location.replacing("GW", with: text(web)).replacing("ST", with: text(strangeWeb))
            let answer = Array("HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\nLOCATION: \(place)\r\n\r\n".utf8)
            if source == Self.stranger {
                try? strange.sendDatagram(answer, to: asked.from)
            } else {
                try? search.sendDatagram(answer, to: asked.from)
            }
        }
    }

    private func text(_ socket: borrowing Socket) -> String { socket.localAddress()?.description ?? "" }

    private func take(_ listener: borrowing Socket, _ host: IPAddress) {
        guard let accepted = try? accept(on: listener) else { return }
        let holder = Holder(accepted.intoSocket())
        let thread = try? runThread(name: "test router") { [self] in serve(holder.socket, host) }
        if let thread { threads.withLock { $0.append(thread) } }
    }

    private final class Holder: Sendable {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private func serve(_ socket: borrowing Socket, _ host: IPAddress) {
        guard let request = read(socket, host) else { return }
        log.withLock { $0.append(request) }
        for step in script.http(request) {
            switch step {
            case .send(let text):
                _ = write(
                    socket,
                    text.replacing("GW", with: self.text(web)).replacing("ST", with: self.text(strangeWeb)))
            case .trickle: while write(socket, "a"), !stop.wait(until: monotonicNow() + .milliseconds(20)) {}
            case .repeating(let text): while write(socket, text) {}
            case .hold: _ = stop.wait(until: nil)
            }
        }
    }

    private func read(_ socket: borrowing Socket, _ host: IPAddress) -> Request? {
        let incoming = ByteBuffer()
        while true {
            let text = String(decoding: incoming.bytes, as: UTF8.self)
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 {
                let lines = parts[0].split(separator: "\r\n")
                func field(_ name: String) -> Substring? {
                    lines.first { $0.hasPrefix(name) }?.dropFirst(name.count)
                }
                if parts[1].utf8.count >= field("Content-Length: ").flatMap({ Int($0) }) ?? 0 {
                    let words = lines.first?.split(separator: " ") ?? []
                    let action = field("SOAPAction: ")?.split(separator: "#").last?.dropLast()
                    return Request(
                        host: host, path: words.count > 1 ? String(words[1]) : "",
                        name: String(field("Host: ") ?? ""), action: action.map { String($0) },
                        body: String(parts[1]))
                }
            }
            guard (try? socket.wait(for: .readable, until: nil, stop: stop)) == true,
                let count = try? socket.read(into: incoming, max: 4096), count > 0
            else { return nil }
        }
    }

    private func write(_ socket: borrowing Socket, _ text: String) -> Bool {
        let out = ByteBuffer()
        out.append(Array(text.utf8))
        while !out.isEmpty {
            do throws(SocketError) {
                if try socket.write(from: out) == nil,
                    try !socket.wait(for: .writable, until: nil, stop: stop)
                {
                    return false
                }
            } catch {
                return false
            }
        }
        return true
    }
}

/// How long a test waits: half a minute for an answer that is to come, which nobody feels, and hardly any time for one that
/// is not.
extension RouterTimes {
    static let long = TrySchedule(
        tries: [.zero, .milliseconds(20), .milliseconds(60), .seconds(1)], end: .seconds(30))
    static let brief = TrySchedule(
        tries: [.zero, .milliseconds(20), .milliseconds(60)], end: .milliseconds(200))

    /// Everybody who is asked answers.
    static let whole = {
        var times = RouterTimes()
        times.hardEnd = .seconds(60)
        times.enough = .seconds(30)
        (times.search, times.patientSearch) = (long, long)
        (times.natpmp, times.patientNATPMP) = (long, long)
        times.stun = long
        times.question = .seconds(30)
        return times
    }()

    /// Nobody but the IGD does.
    static let igdAlone = {
        var times = whole
        times.enough = .zero
        (times.natpmp, times.patientNATPMP) = (brief, brief)
        return times
    }()

    /// There is no IGD, or none that ends the search.
    static let natpmpAlone = {
        var times = whole
        (times.search, times.patientSearch) = (brief, brief)
        times.question = .milliseconds(300)
        return times
    }()

    /// Nobody does.
    static let nobody = {
        var times = natpmpAlone
        (times.natpmp, times.patientNATPMP, times.stun) = (brief, brief, brief)
        return times
    }()

    func with(_ change: (inout RouterTimes) -> Void) -> RouterTimes {
        var times = self
        change(&times)
        return times
    }
}

/// The usual answers of an IGD, with a mapping that can be made and taken away, and errors on request.
final class FakeIGD: Sendable {
    struct State: Sendable {
        var description = Descriptions.igd()
        /// By action; an error instead of the answer. One use each.
        var errors: [String: [Int]] = [:]
        /// Actions that never get an answer.
        var silent: Set<String> = []
        var status = "Connected"
        var address = "11.22.33.44"
        var entry: MappingEntry?
        /// Whether a mapping that was added shows.
        var showsMappings = true
        /// The lease that the router shows for what was asked.
        var shownLease: Int?
        /// What was added last: `outside inside client lease description`.
        var added: [String] = []
        var pinholes: [String] = []
        /// Nothing about pinholes is allowed over IPv4.
        var demandsIPv6 = false
    }

    private let state: Mutex<State>

    init(_ change: (inout State) -> Void = { _ in }) {
        var state = State()
        change(&state)
        self.state = Mutex(state)
    }

    var now: State { state.withLock { $0 } }

    /// As a script: found by the search, described at `/rootDesc.xml`.
    func script(_ change: (inout ScriptedRouter.Script) -> Void = { _ in }) -> ScriptedRouter.Script {
        var script = ScriptedRouter.Script()
        script.search = [(ScriptedRouter.gateway, "http://GW/rootDesc.xml")]
        script.http = { [self] in answer($0) }
        change(&script)
        return script
    }

    static func http(_ body: String, status: Int = 200) -> [ScriptedRouter.Step] {
        [
            .send(
                "HTTP/1.1 \(status) X\r\nContent-Type: text/xml\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
        ]
    }

    func answer(_ request: ScriptedRouter.Request) -> [ScriptedRouter.Step] {
        state.withLock { state in
            guard let action = request.action else {
                return request.path == "/rootDesc.xml"
                    ? Self.http(state.description) : [.send(ScriptedRouter.notFound)]
            }
            if state.silent.contains(action) { return [.hold] }
            if state.demandsIPv6, action.hasSuffix("Pinhole") || action == "CheckPinholeWorking",
                request.host.family == .v4
            {
                return Self.http(Replies.error(606), status: 500)
            }
            if let code = state.errors[action]?.first {
                state.errors[action]?.removeFirst()
                return Self.http(Replies.error(code), status: 500)
            }
            return Self.reply(action, request, &state)
        }
    }

    private static func reply(
        _ action: String, _ request: ScriptedRouter.Request, _ state: inout State
    ) -> [ScriptedRouter.Step] {
        func argument(_ name: String) -> String {
            guard let start = request.body.split(separator: "<\(name)>", maxSplits: 1).last,
                start != request.body
            else { return "" }
            return String(start.prefix { $0 != "<" })
        }
        func ok(_ values: [(String, String)] = []) -> [ScriptedRouter.Step] {
            http(Replies.values(action, values))
        }
        switch action {
        case "GetStatusInfo": return ok([("NewConnectionStatus", state.status), ("NewUptime", "9")])
        case "GetConnectionTypeInfo": return ok([("NewConnectionType", "IP_Routed")])
        case "GetExternalIPAddress": return ok([("NewExternalIPAddress", state.address)])
        case "GetSpecificPortMappingEntry":
            guard let entry = state.entry else { return http(Replies.error(714), status: 500) }
            return ok([
                ("NewInternalPort", "\(entry.port)"), ("NewInternalClient", "\(entry.client)"),
                ("NewEnabled", entry.isEnabled ? "1" : "0"), ("NewPortMappingDescription", entry.description),
                ("NewLeaseDuration", "\(entry.lease)"),
            ])
        case "AddPortMapping":
            let lease = Int(argument("NewLeaseDuration")) ?? -1
            let client = argument("NewInternalClient")
            state.added.append(
                "\(argument("NewExternalPort")) \(argument("NewInternalPort")) \(client) \(lease) "
                    + argument("NewPortMappingDescription"))
            if state.showsMappings {
                state.entry = MappingEntry(
                    client: ip(client), port: Int(argument("NewInternalPort")) ?? 0, isEnabled: true,
                    description: argument("NewPortMappingDescription"), lease: state.shownLease ?? lease)
            }
            return ok()
        case "DeletePortMapping":
            guard state.entry != nil else { return http(Replies.error(714), status: 500) }
            state.entry = nil
            return ok()
        case "GetFirewallStatus": return ok([("FirewallEnabled", "1"), ("InboundPinholeAllowed", "1")])
        case "AddPinhole":
            state.pinholes.append(
                "\(argument("InternalClient")) \(argument("InternalPort")) \(argument("Protocol")) "
                    + argument("LeaseTime"))
            return ok([("UniqueID", "\(41 + state.pinholes.count)")])
        case "UpdatePinhole": return ok()
        case "DeletePinhole": return ok()
        case "CheckPinholeWorking": return ok([("IsWorking", "1")])
        default: return http(Replies.error(401), status: 500)
        }
    }
}
