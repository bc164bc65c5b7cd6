// SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Synchronization
internal import SystemBus
internal import Wire

/// What the services on the machine's bus know of VPNs.
struct BusFacts: Sendable, Equatable {
    /// A unit of a VPN that is enabled or runs.
    struct Unit: Sendable, Equatable {
        /// `openvpn-client@office.service`
        var name: String
        var isActive = false
        var isEnabled = false
        /// Its process; nil when it is not known.
        var process: UInt32?
    }

    /// A profile of NetworkManager's.
    struct Profile: Sendable, Equatable {
        /// Its name, as the user set it.
        var name: String
        /// `vpn`, `wireguard` or `tun`.
        var type: String
        /// Of a `vpn`: `org.freedesktop.NetworkManager.openvpn`.
        var service: String?
        var isActive = false
        /// Its own link, when it has one.
        var interface: String?
        /// What it got; the way to the link of a `vpn`.
        var addresses: [IPAddress] = []
    }

    /// How far one service answered.
    enum State: String, Sendable {
        case absent
        case asked
        case answered
        case refused
    }

    var units: [Unit] = []
    var unitState = State.absent
    var profiles: [Profile] = []
    var profileState = State.absent
    /// Domains that names are looked up in, of systemd-resolved.
    var domains: [String] = []
}

/// One look at the bus, from connecting to what is known when everything has answered or the time is up.
enum BusReading {
    static func read(_ place: BusPlace, by deadline: MonotonicTime) -> BusFacts {
        var place = place
        place.connectLimit = max(.zero, deadline - monotonicNow())
        let desk = Shared(BusFacts())
        do throws(SocketError) {
            let done = try WakeUp()
            let bus = try Bus(place)
            bus.add { BusLook($0, by: deadline, desk, done: done.signal) }
            try bus.start { if case .lost = $0 { done.signal() } }
            _ = done.wait(until: deadline)
            bus.stop()
        } catch {
            // As if there were none.
        }
        return desk.value
    }
}

/// A value that threads share.
final class Shared<Value: Sendable>: Sendable {
    private let held: Mutex<Value>
    init(_ value: Value) { held = Mutex(value) }
    var value: Value { held.withLock { $0 } }
    func change(_ body: (inout Value) -> Void) { held.withLock { body(&$0) } }
}

/// Asks systemd, NetworkManager and systemd-resolved, those that run, side by side. Asks for nothing to be started: a
/// service is called by the name it has on the bus, never by the one that would bring it up.
final class BusLook: BusUser {
    private let link: BusLink
    private let deadline: MonotonicTime
    private let desk: Shared<BusFacts>
    private let done: () -> Void
    private var profiles: [String: BusFacts.Profile] = [:]
    private var uses: [String: Use] = [:]
    private var open = 0
    private var asked = 0

    /// Questions in all.
    private static let most = 512
    /// Units and profiles looked at.
    private static let each = 64

    init(
        _ link: BusLink, by deadline: MonotonicTime, _ desk: Shared<BusFacts>, done: @escaping () -> Void
    ) {
        self.link = link
        self.deadline = deadline
        self.desk = desk
        self.done = done
    }

    func busConnected() {
        open += 1
        owner(of: "org.freedesktop.systemd1") { [unowned self] in readUnits($0) }
        owner(of: "org.freedesktop.NetworkManager") { [unowned self] in readProfiles($0) }
        owner(of: "org.freedesktop.resolve1") { [unowned self] in readDomains($0) }
        finished()
    }

    func busLost() { done() }

    // MARK: Units

    /// Patterns only: what other units there are is nobody's business.
    static let patterns = [
        "tailscaled.service", "wg-quick@*.service", "openvpn-client@*.service", "openvpn-server@*.service",
        "openvpn@*.service", "zerotier-one.service", "nebula.service", "nebula@*.service", "netbird.service",
    ]
    private static let manager = "org.freedesktop.systemd1.Manager"
    private static let managerPath = "/org/freedesktop/systemd1"

    private func readUnits(_ owner: String) {
        desk.change { $0.unitState = .asked }
        let patterns = BusValue.strings(Self.patterns)
        let files = BusCall(
            to: owner, path: Self.managerPath, interface: Self.manager, member: "ListUnitFilesByPatterns",
            [.strings(["enabled", "enabled-runtime"]), patterns])
        ask(files) { [unowned self] answer in
            for file in unitRows(answer) {
                guard file.count == 2, let path = file[0].text, let name = path.split(separator: "/").last,
                    !name.contains("@.")
                else { continue }
                note(unit: String(name)) { $0.isEnabled = true }
            }
        }
        let loaded = BusCall(
            to: owner, path: Self.managerPath, interface: Self.manager, member: "ListUnitsByPatterns",
            [.strings([]), patterns])
        ask(loaded) { [unowned self] answer in
            for unit in unitRows(answer) {
                guard unit.count == 10, let name = unit[0].text, let state = unit[3].text,
                    let path = unit[6].path
                else { continue }
                let isActive = ["active", "reloading", "activating"].contains(state)
                if isActive {
                    note(unit: name) { $0.isActive = true }
                    readProcess(of: name, at: path, from: owner)
                }
                readFileState(of: name, from: owner)
            }
        }
    }

    private func unitRows(_ answer: BusAnswer) -> ArraySlice<[BusValue]> {
        guard case .success(let values) = answer, let rows = values.first?.elements else {
            desk.change { $0.unitState = .refused }
            return []
        }
        desk.change { if $0.unitState == .asked { $0.unitState = .answered } }
        return rows.compactMap(\.members).prefix(Self.each)
    }

    /// An instance of a template is in no list of files.
    private func readFileState(of name: String, from owner: String) {
        let call = BusCall(
            to: owner, path: Self.managerPath, interface: Self.manager, member: "GetUnitFileState",
            [.string(name)])
        ask(call) { [unowned self] answer in
            guard case .success(let values) = answer, let state = values.first?.text,
                state == "enabled" || state == "enabled-runtime"
            else { return }
            note(unit: name) { $0.isEnabled = true }
        }
    }

    private func readProcess(of name: String, at path: String, from owner: String) {
        property("MainPID", of: "org.freedesktop.systemd1.Service", at: path, from: owner) {
            [unowned self] value in
            if let process = value.number, process != 0 { note(unit: name) { $0.process = process } }
        }
    }

    private func note(unit name: String, _ change: (inout BusFacts.Unit) -> Void) {
        desk.change { facts in
            let index =
                facts.units.firstIndex { $0.name == name }
                ?? {
                    facts.units.append(BusFacts.Unit(name: name))
                    return facts.units.count - 1
                }()
            change(&facts.units[index])
        }
    }

    // MARK: Profiles

    private static let network = "org.freedesktop.NetworkManager"
    private static let networkPath = "/org/freedesktop/NetworkManager"

    private func readProfiles(_ owner: String) {
        desk.change { $0.profileState = .asked }
        let list = BusCall(
            to: owner, path: Self.networkPath + "/Settings", interface: Self.network + ".Settings",
            member: "ListConnections")
        ask(list) { [unowned self] answer in
            guard case .success(let values) = answer, let paths = values.first?.elements else {
                return desk.change { $0.profileState = .refused }
            }
            desk.change { $0.profileState = .answered }
            for path in paths.compactMap(\.path).prefix(Self.each) { readProfile(path, owner) }
            readActive(owner)
        }
    }

    private func readProfile(_ path: String, _ owner: String) {
        let call = BusCall(
            to: owner, path: path, interface: Self.network + ".Settings.Connection", member: "GetSettings")
        ask(call) { [unowned self] answer in
            guard case .success(let values) = answer, let groups = values.first.flatMap(Self.groups),
                let profile = Self.profile(groups)
            else { return }
            profiles[path] = profile
            publishProfiles()
        }
    }

    private func readActive(_ owner: String) {
        property("ActiveConnections", of: Self.network, at: Self.networkPath, from: owner) {
            [unowned self] value in
            for path in (value.elements ?? []).compactMap(\.path).prefix(Self.each) {
                properties(of: Self.network + ".Connection.Active", at: path, from: owner) {
                    [unowned self] found in readActive(found, owner)
                }
            }
        }
    }

    private func readActive(_ found: [String: BusValue], _ owner: String) {
        // 2: NM_ACTIVE_CONNECTION_STATE_ACTIVATED.
        guard let type = found["Type"]?.text, Self.types.contains(type), found["State"]?.number == 2,
            let path = found["Connection"]?.path
        else { return }
        note(profile: path) { $0.isActive = true }
        // The device of a `vpn` is the one it goes out by; its own link has its address.
        if type == "vpn" {
            if let config = found["Ip4Config"]?.path, config != "/" {
                property("AddressData", of: Self.network + ".IP4Config", at: config, from: owner) {
                    [unowned self] value in
                    let texts = (value.elements ?? []).compactMap { $0.properties?["address"]?.text }
                    let addresses = texts.prefix(16).compactMap { IPAddress($0) }
                    note(profile: path) { $0.addresses = addresses }
                }
            }
        } else if let device = found["Devices"]?.elements?.first?.path {
            property("Interface", of: Self.network + ".Device", at: device, from: owner) {
                [unowned self] value in
                if let name = value.text { note(profile: path) { $0.interface = Label.clean(name) } }
            }
        }
    }

    /// Answers come in any order, so what is known of a profile waits for the profile.
    private func note(profile path: String, _ change: (inout Use) -> Void) {
        change(&uses[path, default: Use()])
        publishProfiles()
    }

    private func publishProfiles() {
        let known = profiles.sorted { $0.key < $1.key }.map { path, profile in
            var profile = profile
            if let use = uses[path] {
                profile.isActive = use.isActive
                profile.interface = use.interface ?? profile.interface
                profile.addresses = use.addresses
            }
            return profile
        }
        desk.change { $0.profiles = known }
    }

    /// What is known of a profile in use.
    private struct Use {
        var isActive = false
        var interface: String?
        var addresses: [IPAddress] = []
    }

    private static let types: Set = ["vpn", "wireguard", "tun"]

    /// An `a{sa{sv}}`.
    private static func groups(_ value: BusValue) -> [String: [String: BusValue]]? {
        var groups: [String: [String: BusValue]] = [:]
        for element in value.elements ?? [] {
            guard case .entry(.string(let name), let values) = element, let values = values.properties else {
                return nil
            }
            groups[name] = values
        }
        return groups
    }

    private static func profile(_ groups: [String: [String: BusValue]]) -> BusFacts.Profile? {
        guard let connection = groups["connection"], let type = connection["type"]?.text,
            types.contains(type), let name = connection["id"]?.text
        else { return nil }
        return BusFacts.Profile(
            name: Label.clean(name), type: type, service: groups["vpn"]?["service-type"]?.text,
            interface: connection["interface-name"]?.text.map { Label.clean($0) })
    }

    // MARK: Domains

    private func readDomains(_ owner: String) {
        property(
            "Domains", of: "org.freedesktop.resolve1.Manager", at: "/org/freedesktop/resolve1", from: owner
        ) { [unowned self] value in
            // a(isb): link, domain, whether it only routes questions.
            let domains = (value.elements ?? []).prefix(Self.each).compactMap { row -> String? in
                guard let row = row.members, row.count == 3 else { return nil }
                return row[1].text
            }
            desk.change { $0.domains = domains }
        }
    }

    // MARK: Asking

    private func owner(of name: String, _ then: @escaping (String) -> Void) {
        let call = BusCall(
            to: BusMatch.busName, path: BusMatch.busPath, interface: BusMatch.busName, member: "GetNameOwner",
            [.string(name)])
        ask(call) { answer in
            if case .success(let values) = answer, let owner = values.first?.text { then(owner) }
        }
    }

    private func property(
        _ name: String, of interface: String, at path: String, from owner: String,
        _ then: @escaping (BusValue) -> Void
    ) {
        let call = BusCall(
            to: owner, path: path, interface: BusLink.properties, member: "Get",
            [.string(interface), .string(name)])
        ask(call) { answer in
            if case .success(let values) = answer, let value = values.first?.held { then(value) }
        }
    }

    private func properties(
        of interface: String, at path: String, from owner: String,
        _ then: @escaping ([String: BusValue]) -> Void
    ) {
        let call = BusCall(
            to: owner, path: path, interface: BusLink.properties, member: "GetAll", [.string(interface)])
        ask(call) { answer in
            if case .success(let values) = answer, let found = values.first?.properties { then(found) }
        }
    }

    private func ask(_ call: BusCall, _ then: @escaping (BusAnswer) -> Void) {
        guard asked < Self.most else { return }
        asked += 1
        open += 1
        var call = call
        call.limit = max(.milliseconds(1), deadline - monotonicNow())
        link.call(call) { [unowned self] answer in
            then(answer)
            finished()
        }
    }

    /// The last answer ends the look.
    private func finished() {
        open -= 1
        if open == 0 { done() }
    }
}
