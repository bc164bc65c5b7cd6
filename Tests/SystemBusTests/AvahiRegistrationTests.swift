// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import SystemBus

/// What is registered at Avahi, step by step, against an Avahi that is a table.
struct AvahiRegistrationTests {
    @Test func oneGroupAnInterfaceAllSayingTheSame() {
        var desk = Desk()
        desk.want(record(on: [2, 5]))
        #expect(desk.state == .on)
        #expect(
            desk.taken == [
                "state", "tag", "group", "add g1 2 Desk:7 t1 p1", "commit g1", "group",
                "add g2 5 Desk:7 t1 p1", "commit g2",
            ])
        #expect(desk.avahi.out == [2: "Desk:7 t1 p1", 5: "Desk:7 t1 p1"])
    }

    @Test func nothingIsAskedWhileNothingIsWanted() {
        var desk = Desk()
        #expect(desk.taken == [] && desk.state == .off)
        desk.registration.serverChanged(2)
        desk.run()
        #expect(desk.taken == [])
    }

    /// 02 §7.3: another tag at every registration, and only then.
    @Test func pIsChangedInPlace() {
        var desk = Desk(record(on: [2, 5]))
        desk.want(record(on: [2, 5], required: false))
        #expect(desk.taken == ["update g1 2 Desk:7 t1 p0", "update g2 5 Desk:7 t1 p0"])
    }

    @Test func anotherIdentityTakesAnotherTag() {
        var desk = Desk(record(on: [2]))
        desk.want(record(on: [2], of: 2))
        #expect(desk.taken == ["tag", "update g1 2 Desk:7 t2 p1"])
    }

    @Test func anInterfaceThatComesIsAddedToTheOthers() {
        var desk = Desk(record(on: [2]))
        desk.want(record(on: [2, 5]))
        #expect(
            desk.taken == [
                "tag", "update g1 2 Desk:7 t2 p1", "group", "add g2 5 Desk:7 t2 p1", "commit g2",
            ])
    }

    /// A cable that was pulled out of the machine.
    @Test func anInterfaceThatVanishesLeavesTheOthersAlone() {
        var desk = Desk(record(on: [2, 5]))
        desk.avahi.machine.remove(2)
        desk.want(record(on: [5]))
        #expect(desk.taken == ["look 2", "free g1"] && desk.avahi.out == [5: "Desk:7 t1 p1"])
    }

    /// One that is still there, and is not one to be found on any more: devices there must hear that the name went, and
    /// those elsewhere must not.
    @Test func anInterfaceThatIsLeft() {
        var desk = Desk(record(on: [2, 5, 6]))
        desk.want(record(on: [5, 6]))
        #expect(desk.taken.starts(with: ["look 2", "free g2", "free g3", "free g1", "tag", "group"]))
        #expect(desk.avahi.out == [5: "Desk:7 t2 p1", 6: "Desk:7 t2 p1"])
        #expect(desk.avahi.heard == [2: [], 5: ["Desk"], 6: ["Desk"]])
        #expect(desk.avahi.goodbyes == [2])
    }

    @Test(arguments: ["name", "port"])
    func anotherNameOrPortIsAnotherRegistration(_ what: String) {
        var desk = Desk(record(on: [2]))
        desk.want(what == "name" ? record("Den", on: [2]) : record(port: 8, on: [2]))
        let content = what == "name" ? "Den:7 t2 p1" : "Desk:8 t2 p1"
        #expect(desk.taken == ["free g1", "tag", "group", "add g2 2 \(content)", "commit g2"])
        #expect(desk.state == .on)
    }

    @Test func withdrawnEverywhere() {
        var desk = Desk(record(on: [2, 5]))
        desk.want(nil)
        // Avahi says goodbye for the last one alone; see AvahiFarewell.
        #expect(
            desk.taken == [
                "free g1", "free g2", "domain", "part", "part g3 2 Desk local", "part commit g3",
                "part free g3",
            ])
        #expect(desk.state == .off && desk.avahi.heard == [2: [], 5: []])
        desk.want(record(on: [2]))
        #expect(desk.taken.prefix(2) == ["tag", "group"])
        #expect(desk.avahi.out == [2: "Desk:7 t2 p1"])
        desk.want(nil)
        #expect(desk.taken == ["free g4"] && desk.state == .off)
    }

    @Test func anotherNameOnSeveralNetworks() {
        var desk = Desk(record(on: [2, 5, 6]))
        desk.want(record("Den", on: [2, 5]))
        #expect(desk.avahi.heard == [2: ["Den"], 5: ["Den"], 6: []] && desk.state == .on)
    }

    @Test func aFarewellThatFailsIsLeftOut() {
        for step in ["domain", "part", "part g4 2 Desk local", "part commit g4", "part free g4"] {
            for error in [BusError(.refused, "no"), BusError(.unanswered, "silent")] {
                var desk = Desk(record(on: [2, 5, 6]))
                desk.avahi.fails = (step, error)
                desk.want(nil)
                #expect(desk.taken.contains(step))
                desk.avahi.fails = nil
                desk.retry()
                #expect(desk.state == .off)
                desk.want(record(on: [2]))
                #expect(desk.state == .on)
            }
        }
    }

    /// A record wanted again in the middle of the farewell.
    @Test(arguments: 0..<14)
    func wantedAgain(_ steps: Int) {
        var desk = Desk(record(on: [2, 5, 6]))
        desk.registration.want(nil)
        desk.run(most: steps)
        desk.registration.want(record(on: [2, 5]))
        desk.run()
        #expect(desk.state == .on && desk.avahi.heard == [2: ["Desk"], 5: ["Desk"], 6: []])
        #expect(desk.avahi.groups.count == 2)
    }

    // MARK: Names

    @Test func aNameTakenOnThisHost() {
        var desk = Desk()
        desk.avahi.taken = ["Desk"]
        desk.want(record(on: [2]))
        #expect(
            desk.taken == [
                "state", "tag", "group", "add g1 2 Desk:7 t1 p1", "rename Desk", "tag",
                "add g1 2 Desk #2:7 t2 p1", "commit g1",
            ])
        #expect(desk.registration.standing?.name == "Desk #2")
    }

    @Test func aNameTakenOnTheNetworkWhileProbing() {
        var desk = Desk()
        desk.avahi.establishes = false
        desk.want(record(on: [2, 5]))
        #expect(desk.state == nil)
        desk.registration.groupChanged("g1", 2)
        desk.registration.groupChanged("g2", 3)
        desk.avahi.establishes = true
        desk.avahi.taken = ["Desk", "Desk #2"]
        desk.run()
        #expect(desk.avahi.out == [2: "Desk #3:7 t3 p1", 5: "Desk #3:7 t3 p1"])
        #expect(desk.state == .on)
    }

    @Test func aNameLostLater() {
        var desk = Desk(record(on: [2, 5]))
        desk.registration.groupChanged("g1", 3)
        // Avahi says nothing of a record that lost.
        desk.avahi.groups["g1"]?.isAnnounced = false
        desk.run()
        #expect(
            desk.taken == [
                "free g1", "free g2", "rename Desk", "tag", "group", "add g3 2 Desk #2:7 t2 p1", "commit g3",
                "group", "add g4 5 Desk #2:7 t2 p1", "commit g4",
            ])
        // Where the name was lost it is another's now, and not ours to say goodbye for.
        #expect(desk.avahi.goodbyes == [5])
        // The other name is kept for as long as the host is called so, through a restart of Avahi too.
        desk.want(record(on: [2, 5], required: false))
        desk.restartAvahi()
        #expect(desk.avahi.out == [2: "Desk #2:7 t3 p0", 5: "Desk #2:7 t3 p0"])
        desk.want(record("Den", on: [2]))
        #expect(desk.avahi.out == [2: "Den:7 t4 p1"])
    }

    @Test func aHostThatIsRenamedWhileItsNameIsTaken() {
        var desk = Desk(record(on: [2]))
        desk.registration.groupChanged("g1", 3)
        desk.want(record("Den", on: [2]))
        #expect(!desk.taken.contains { $0.hasPrefix("rename") })
        #expect(desk.avahi.out == [2: "Den:7 t2 p1"])
    }

    @Test func aNetworkThatTakesEveryNameIsLeftAlone() {
        var desk = Desk()
        desk.avahi.takesEveryName = true
        desk.want(record(on: [2]))
        #expect(desk.state == .unavailable && desk.registration.problem != nil)
        #expect(
            desk.taken.count { $0.hasPrefix("rename") } == AvahiRegistration.mostRenames + 1)
        desk.avahi.takesEveryName = false
        desk.retry()
        #expect(desk.state == .on)
    }

    @Test(arguments: ["", "Desk"])
    func anAlternativeThatIsNone(_ name: String) {
        var desk = Desk()
        desk.avahi.taken = ["Desk"]
        desk.avahi.alternative = name
        desk.want(record(on: [2]))
        #expect(desk.state == .unavailable && desk.registration.problem != nil)
    }

    /// What Avahi makes of a long name is cut again: nothing longer than a label is ever sent.
    @Test func anAlternativeIsALabel() {
        var desk = Desk()
        desk.avahi.taken = ["Desk"]
        desk.avahi.alternative = String(repeating: "x", count: 70) + "\u{7}"
        desk.want(record(on: [2]))
        #expect(desk.registration.standing?.name == String(repeating: "x", count: 63))
    }

    // MARK: Refusals

    @Test func anInterfaceThatIsRefusedHidesNoOther() {
        var desk = Desk()
        desk.avahi.refuses = [2]
        desk.want(record(on: [2, 5]))
        #expect(desk.state == .on && desk.avahi.out == [5: "Desk:7 t1 p1"])
        #expect(Array(desk.registration.refused.keys) == [2] && desk.registration.problem == nil)
        // Not tried again until something changes where.
        desk.want(record(on: [2, 5], required: false))
        #expect(desk.taken == ["update g1 5 Desk:7 t1 p0"])
        desk.avahi.refuses = []
        desk.want(record(on: [2, 5, 6]))
        #expect(Set(desk.avahi.out.keys) == [2, 5, 6] && desk.registration.refused.isEmpty)
    }

    @Test func allAreRefused() {
        var desk = Desk()
        desk.avahi.refuses = [2, 5]
        desk.want(record(on: [2, 5]))
        #expect(desk.state == .unavailable && desk.registration.problem != nil)
        #expect(desk.avahi.groups.isEmpty)
        desk.avahi.refuses = []
        desk.retry()
        #expect(desk.state == .on)
    }

    @Test func noGroupIsGiven() {
        var desk = Desk()
        desk.avahi.mostGroups = 0
        desk.want(record(on: [2]))
        #expect(desk.state == .unavailable && desk.taken == ["state", "tag", "group"])
        desk.retry()
        #expect(desk.taken == ["group"])
        desk.avahi.mostGroups = 1
        desk.retry()
        #expect(desk.state == .on)
        // One more than it gives: the record stays where it is.
        desk.want(record(on: [2, 5]))
        #expect(desk.state == .on && Array(desk.avahi.out.keys) == [2])
        #expect(Array(desk.registration.refused.keys) == [5])
    }

    @Test func aGroupThatFails() {
        var desk = Desk(record(on: [2, 5]))
        desk.registration.groupChanged("g2", 4)
        desk.run()
        #expect(desk.state == .unavailable && desk.taken == ["free g2"])
        desk.retry()
        #expect(desk.state == .on && desk.avahi.goodbyes == [])
        #expect(desk.avahi.out == [2: "Desk:7 t2 p1", 5: "Desk:7 t2 p1"])
    }

    @Test func anUpdateThatIsRefusedIsARegistration() {
        var desk = Desk(record(on: [2]))
        desk.avahi.failures = [BusError(.refused, name: "org.freedesktop.Avahi.NotFoundError", "not found")]
        desk.want(record(on: [2], required: false))
        #expect(desk.state == .on && desk.avahi.out == [2: "Desk:7 t2 p0"])
        #expect(desk.taken.starts(with: ["update g1 2 Desk:7 t1 p0", "free g1", "tag", "group"]))
    }

    // MARK: Avahi comes and goes

    @Test func avahiIsNotThere() {
        var registration = AvahiRegistration()
        registration.want(record(on: [2]))
        #expect(registration.next == nil && registration.state == .unavailable)
        registration.want(nil)
        #expect(registration.state == .off)
    }

    @Test func avahiGoesAndComes() {
        var desk = Desk(record(on: [2]))
        desk.registration.gone()
        #expect(desk.state == .unavailable && desk.registration.next == nil)
        desk.restartAvahi()
        #expect(desk.taken.first == "state")
        #expect(desk.state == .on && desk.avahi.out == [2: "Desk:7 t2 p1"])
    }

    /// While the server does not run, its host name may change, and records name the host.
    @Test func theServerLeavesItsName() {
        var desk = Desk(record(on: [2, 5]))
        desk.registration.serverChanged(1)
        desk.run()
        #expect(desk.taken == ["free g1", "free g2"] && desk.state == .unavailable)
        desk.registration.serverChanged(2)
        desk.run()
        #expect(desk.state == .on && desk.avahi.out == [2: "Desk:7 t2 p1", 5: "Desk:7 t2 p1"])
    }

    @Test func theServerStartsLater() {
        var desk = Desk()
        desk.avahi.serverState = 1
        desk.want(record(on: [2]))
        #expect(desk.state == .unavailable && desk.taken == ["state"])
        desk.registration.serverChanged(2)
        desk.run()
        #expect(desk.state == .on)
    }

    @Test func aWordAboutAnUnknownGroupIsDropped() {
        var desk = Desk(record(on: [2]))
        for state: Int32 in 0...5 { desk.registration.groupChanged("g9", state) }
        desk.run()
        #expect(desk.state == .on && desk.taken == [])
    }

    @Test func noAnswer() {
        for step in 0..<7 {
            var desk = Desk()
            desk.avahi.silentFrom = step
            desk.want(record(on: [2, 5]))
            #expect(desk.state == .unavailable && desk.registration.next == nil)
            desk.avahi.silentFrom = nil
            desk.retry()
            #expect(desk.state == .on && desk.avahi.out.count == 2)
            #expect(Set(desk.avahi.out.values).count == 1)
        }
    }

    /// Whatever happens, in the end what is out is what is wanted, everywhere the same, and nothing is left over.
    @Test(arguments: 0..<600)
    func inTheEnd(_ seed: UInt64) {
        var random = Seeded(state: seed)
        var desk = Desk()
        var wanted: Advertisement?
        // Nothing happens but changes of what is wanted: then every device has heard what it should.
        let isPlain = seed % 3 == 0
        let kinds = isPlain ? 0...3 : 0...9
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            switch Int.random(in: kinds, using: &random) {
            case 0...3:
                let interfaces = (2...6).filter { _ in Bool.random(using: &random) }.map { UInt32($0) }
                wanted = record(
                    ["Desk", "Den"].randomElement(using: &random) ?? "", on: interfaces,
                    required: Bool.random(using: &random))
                desk.registration.want(wanted)
            case 4:
                desk.avahi.taken = Set(
                    ["Desk", "Den", "Desk #2"].filter { _ in Bool.random(using: &random) })
            case 5:
                // Avahi says nothing of a group that was not committed.
                let committed = desk.avahi.groups.filter(\.value.isCommitted)
                if let path = committed.keys.sorted().randomElement(using: &random) {
                    desk.registration.groupChanged(path, Int32.random(in: 0...4, using: &random))
                }
            case 6:
                desk.avahi.failures = [BusError(.unanswered, "silent"), BusError(.refused, "no")].shuffled(
                    using: &random)
            case 7: desk.restartAvahi(runs: false)
            case 8: desk.registration.serverChanged(Int32.random(in: 1...3, using: &random))
            default: desk.avahi.silentFrom = Int.random(in: 0...4, using: &random)
            }
            // Events come between any two steps.
            desk.run(most: Int.random(in: 0...6, using: &random))
        }
        desk.avahi.calm()
        desk.registration.serverChanged(2)
        // What failed is tried again for as long as it takes; what is registering comes to its end.
        for _ in 0..<3 {
            desk.run()
            for path in desk.avahi.groups.keys { desk.registration.groupChanged(path, 2) }
            desk.retry()
        }
        #expect(Set(desk.avahi.out.keys) == Set(wanted?.interfaces ?? []))
        #expect(Set(desk.avahi.out.values).count <= 1)
        if isPlain {
            for (interface, heard) in desk.avahi.heard {
                let isWanted = wanted?.interfaces.contains(interface) ?? false
                #expect(heard == (isWanted ? Set(wanted.map { [$0.name] } ?? []) : []))
            }
        }
        #expect(desk.state == (wanted == nil ? .off : .on))
        if let wanted, let out = desk.avahi.out.values.first {
            #expect(out.hasSuffix(wanted.isPairingRequired ? "p1" : "p0") && out.hasPrefix(wanted.name))
        }
    }
}

private func record(
    _ name: String = "Desk", port: UInt16 = 7, on interfaces: [UInt32], required: Bool = true,
    of identity: UInt8 = 1
) -> Advertisement? {
    Fingerprint(bytes: [UInt8](repeating: identity, count: 32)).flatMap {
        Advertisement(
            identity: $0, host: name, port: port, isPairingRequired: required, interfaces: interfaces)
    }
}

/// A registration and its Avahi, with the steps that were taken since the last look.
private struct Desk {
    var registration = AvahiRegistration()
    var avahi = TableAvahi()
    private(set) var taken: [String] = []
    private var tags = 0

    init() {
        registration.arrived()
        run()
    }

    /// One whose record is out.
    init(_ advertisement: Advertisement?) {
        self.init()
        want(advertisement)
        #expect(state == .on)
        taken = []
    }

    var state: AdvertisingState? { registration.state }

    mutating func want(_ advertisement: Advertisement?) {
        taken = []
        registration.want(advertisement)
        run()
    }

    mutating func retry() {
        taken = []
        registration.retry()
        run()
    }

    mutating func restartAvahi(runs: Bool = true) {
        taken = []
        avahi.groups = [:]
        avahi.heard = [:]
        registration.arrived()
        if runs { run() }
    }

    /// Steps until there is none; more than any journey takes is a circle.
    mutating func run(most: Int = 500) {
        for count in 0..<most {
            guard let step = registration.next else { return }
            taken.append(TableAvahi.words(step))
            if count == 499 { Issue.record("goes in circles: \(taken.suffix(12))") }
            if step == .drawTag {
                tags += 1
                registration.answered(step, .success("t\(tags)"))
                continue
            }
            let answer = avahi.take(step)
            if step == .askState, case .success = answer { registration.serverChanged(avahi.serverState) }
            registration.answered(step, answer)
            if case .commit(let path) = step, case .success = answer, avahi.establishes {
                avahi.announce(path)
                registration.groupChanged(path, 2)
            }
        }
    }
}

/// Avahi as a table: it does what it is asked, but for what a test sets.
private struct TableAvahi {
    struct Group {
        var interface: UInt32?
        var content: AvahiRegistration.Content?
        /// The name that is listed by it.
        var name: String?
        var isCommitted = false
        /// Devices were told of it.
        var isAnnounced = false
    }

    var groups: [String: Group] = [:]
    /// The names that devices on a network know of.
    var heard: [UInt32: Set<String>] = [:]
    /// Where a goodbye was heard, in order.
    var goodbyes: [UInt32] = []
    /// The machine's interfaces.
    var machine: Set<UInt32> = [2, 3, 4, 5, 6]
    var serverState: Int32 = 2
    var taken: Set<String> = []
    var takesEveryName = false
    var alternative: String?
    var refuses: Set<UInt32> = []
    var mostGroups = 100
    var establishes = true
    /// What the next calls are answered instead of being done.
    var failures: [BusError] = []
    /// The step, in words, that fails, and how.
    var fails: (String, BusError)?
    /// Calls from this one on are done and not answered.
    var silentFrom: Int?
    private var made = 0

    /// From here on nothing fails.
    mutating func calm() {
        taken = []
        failures = []
        silentFrom = nil
    }

    /// What the network hears, by interface.
    var out: [UInt32: String] {
        var out: [UInt32: String] = [:]
        for group in groups.values where group.isCommitted {
            guard let interface = group.interface, let content = group.content else { continue }
            if out.updateValue(Self.words(content), forKey: interface) != nil {
                Issue.record("twice on interface \(interface)")
            }
        }
        return out
    }

    mutating func take(_ step: AvahiRegistration.Step) -> AvahiRegistration.Answer {
        if !failures.isEmpty {
            // A group that cannot be freed is gone, or will be when Avahi gets to it.
            if case .free(let path) = step { groups[path] = nil }
            if case .farewell(.free(let path)) = step { groups[path] = nil }
            return .failure(failures.removeFirst())
        }
        if let fails, Self.words(step) == fails.0 { return .failure(fails.1) }
        let answer = carryOut(step)
        guard let calls = silentFrom else { return answer }
        silentFrom = max(0, calls - 1)
        return calls > 0 ? answer : .failure(BusError(.unanswered, "no answer"))
    }

    private mutating func carryOut(_ step: AvahiRegistration.Step) -> AvahiRegistration.Answer {
        let refusal = BusError(.refused, name: "org.freedesktop.Avahi.InvalidInterfaceError", "no")
        let collision = BusError(.refused, name: AvahiRegistration.collisionError, "taken")
        switch step {
        case .askState, .drawTag: return .success("")
        case .rename(let name):
            if let alternative { return .success(alternative) }
            let parts = name.split(separator: "#")
            let number = parts.count == 2 ? Int(parts[1]) ?? 1 : 1
            return .success("\(parts[0].trimmingSuffix) #\(number + 1)")
        case .makeGroup:
            if groups.count >= mostGroups { return .failure(refusal) }
            made += 1
            groups["g\(made)"] = Group()
            return .success("g\(made)")
        case .add(let path, let interface, let content):
            guard groups[path]?.content == nil else { return .failure(refusal) }
            if refuses.contains(interface) { return .failure(refusal) }
            if takesEveryName || taken.contains(content.name) { return .failure(collision) }
            groups[path]?.interface = interface
            groups[path]?.content = content
            groups[path]?.name = content.name
            return .success("")
        case .commit(let path), .farewell(.commit(let path)):
            guard groups[path]?.name != nil else { return .failure(refusal) }
            groups[path]?.isCommitted = true
            if groups[path]?.content == nil { announce(path) }
            return .success("")
        case .update(let path, let interface, let content):
            guard let group = groups[path], group.interface == interface, group.content?.name == content.name
            else { return .failure(refusal) }
            groups[path]?.content = content
            return .success("")
        case .free(let path), .farewell(.free(let path)):
            guard let group = groups.removeValue(forKey: path) else { return .failure(refusal) }
            // As Avahi 0.8 does it: not while anything of that name is left on any interface.
            let isLast = !groups.values.contains { $0.name == group.name }
            if let interface = group.interface, let name = group.name, group.isAnnounced, isLast {
                goodbyes.append(interface)
                heard[interface]?.remove(name)
            }
            return .success("")
        case .lookFor(let interface):
            return machine.contains(interface) ? .success("eth\(interface)") : .failure(refusal)
        case .farewell(.askDomain): return .success("local")
        case .farewell(.makeGroup): return carryOut(.makeGroup)
        case .farewell(.add(let path, let target, _)):
            groups[path]?.interface = target.interface
            groups[path]?.name = target.name
            return .success("")
        }
    }

    /// Probing is over: devices hear of it.
    mutating func announce(_ path: String) {
        guard let name = groups[path]?.name, let interface = groups[path]?.interface else { return }
        groups[path]?.isAnnounced = true
        heard[interface, default: []].insert(name)
    }

    static func words(_ step: AvahiRegistration.Step) -> String {
        switch step {
        case .askState: "state"
        case .drawTag: "tag"
        case .rename(let name): "rename \(name)"
        case .makeGroup: "group"
        case .add(let path, let interface, let content): "add \(path) \(interface) \(words(content))"
        case .commit(let path): "commit \(path)"
        case .update(let path, let interface, let content): "update \(path) \(interface) \(words(content))"
        case .free(let path): "free \(path)"
        case .lookFor(let interface): "look \(interface)"
        case .farewell(.askDomain): "domain"
        case .farewell(.makeGroup): "part"
        case .farewell(.add(let path, let target, let domain)):
            "part \(path) \(target.interface) \(target.name) \(domain)"
        case .farewell(.commit(let path)): "part commit \(path)"
        case .farewell(.free(let path)): "part free \(path)"
        }
    }

    private static func words(_ content: AvahiRegistration.Content) -> String {
        "\(content.name):\(content.port) \(content.tag) p\(content.isPairingRequired ? 1 : 0)"
    }
}

extension Substring {
    fileprivate var trimmingSuffix: Substring { hasSuffix(" ") ? dropLast() : self }
}

/// A seeded generator, so that a failure can be run again.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
