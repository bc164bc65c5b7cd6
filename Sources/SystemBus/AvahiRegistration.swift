// SPDX-License-Identifier: Apache-2.0

internal import Policy

/// What this process has registered at Avahi, what it should have, and the next call that brings the two nearer. Makes
/// no call itself: `AvahiUser` makes them, one at a time, and brings the answers.
///
/// Each interface has an entry group of its own, so that one that comes leaves the record on the others alone, and one
/// that Avahi refuses keeps nobody else from being heard. All of them say the same: a network that two of the host's
/// interfaces are on must not hear two records of one name.
struct AvahiRegistration {
    /// One call, or one thing to bring.
    enum Step: Sendable, Equatable {
        /// Whether Avahi's server runs.
        case askState
        /// The recognition tag of another registration.
        case drawTag
        /// Another name instead of a taken one.
        case rename(String)
        case makeGroup
        case add(group: String, interface: UInt32, Content)
        case commit(group: String)
        case update(group: String, interface: UInt32, Content)
        case free(group: String)
        /// Whether an interface that the record left is still in the machine.
        case lookFor(interface: UInt32)
        /// Part of a goodbye that Avahi does not say by itself.
        case farewell(AvahiFarewell.Step)
    }

    /// What a group announces.
    struct Content: Sendable, Equatable {
        var name: String
        var port: UInt16
        var tag: String
        var isPairingRequired: Bool
    }

    /// What a step brought: a tag, name or path where one was asked for, else nothing.
    typealias Answer = Result<String, BusError>

    /// Avahi's word for a name that another service on the network or on this host has.
    static let collisionError = "org.freedesktop.Avahi.CollisionError"
    /// A network that takes this many names is not one to be found on.
    static let mostRenames = 32

    private enum Stage: Sendable, Equatable {
        case added, registering, established
    }

    private struct Group: Sendable {
        let path: String
        let interface: UInt32
        var content: Content
        var stage = Stage.added
        /// To be freed, and made again while it is wanted.
        var isOver = false

        var target: AvahiFarewell.Target {
            AvahiFarewell.Target(interface: interface, name: content.name)
        }
    }

    private var wanted: Advertisement?
    /// nil: not known, or Avahi is not there to ask.
    private var isServing: Bool?
    private var isPresent = false
    private var groups: [Group] = []
    /// A group without content.
    private var spare: String?
    /// Used in place of the wanted name, which is taken.
    private var otherName: String?
    private var isNameTaken = false
    private var renames = 0
    private var tag: String?
    /// The names that devices know of, by what they heard from us.
    private var heard: Set<AvahiFarewell.Target> = []
    private var farewell = AvahiFarewell()
    private(set) var refused: [UInt32: BusError] = [:]
    /// Why nothing more is tried until `retry`.
    private(set) var problem: BusError?

    // MARK: What happens

    /// What should be announced from now on; nil: nothing.
    mutating func want(_ advertisement: Advertisement?) {
        guard advertisement != wanted else { return }
        if advertisement?.name != wanted?.name {
            otherName = nil
            isNameTaken = false
        }
        if let advertisement, let wanted, advertisement.isContained(in: wanted) {
            problem = nil
        } else {
            // Something will be registered: what was refused may be taken now.
            tag = nil
            retry()
        }
        wanted = advertisement
    }

    /// Avahi came, or was replaced by another: nothing of ours is there.
    mutating func arrived() {
        gone()
        isPresent = true
    }

    /// Avahi went, and everything registered there with it.
    mutating func gone() {
        isPresent = false
        groups = []
        spare = nil
        isServing = nil
        isNameTaken = false
        tag = nil
        heard = []
        farewell = AvahiFarewell()
        retry()
    }

    /// Avahi's server says its state. While it does not run its host name may change, and every record names the host:
    /// what is registered is made anew when it runs again.
    mutating func serverChanged(_ state: Int32) {
        let isRunning = state == AvahiWords.serverRunning
        if isServing == true && !isRunning {
            for group in groups { breakUp(group.path) }
        }
        if isServing != true && isRunning { retry() }
        isServing = isRunning
    }

    /// A group says its state.
    mutating func groupChanged(_ path: String, _ state: Int32) {
        guard let group = groups.first(where: { $0.path == path }), !group.isOver else { return }
        switch state {
        case AvahiWords.groupRegistering: change(path) { $0.stage = .registering }
        case AvahiWords.groupEstablished:
            change(path) { $0.stage = .established }
            heard.insert(group.target)
        case AvahiWords.groupCollision:
            // There it is another's name now, and not ours to say goodbye for.
            heard.remove(group.target)
            isNameTaken = true
        case AvahiWords.groupFailure:
            breakUp(path)
            problem = BusError(.refused, "Avahi could not register the record")
        default: break
        }
    }

    /// What failed may be tried again.
    mutating func retry() {
        problem = nil
        refused = [:]
        renames = 0
    }

    // MARK: What to do

    /// The next step; nil while there is none, or none that could succeed now.
    var next: Step? {
        guard isPresent else { return nil }
        if problem == nil, let left { return .lookFor(interface: left.interface) }
        if let stale = nextStale { return .free(group: stale.path) }
        if problem == nil, let step = farewell.next(for: silent) { return .farewell(step) }
        let missing = missingInterface
        if let spare, missing == nil { return .free(group: spare) }
        guard let wanted, problem == nil else { return nil }
        guard let isServing else { return .askState }
        guard isServing else { return nil }
        if isNameTaken { return .rename(otherName ?? wanted.name) }
        guard let content = contentNow else {
            return missing != nil || !groups.isEmpty ? .drawTag : nil
        }
        if let old = groups.first(where: { $0.content != content }) {
            return .update(group: old.path, interface: old.interface, content)
        }
        if let added = groups.first(where: { $0.stage == .added }) { return .commit(group: added.path) }
        guard let missing else { return nil }
        return spare.map { .add(group: $0, interface: missing, content) } ?? .makeGroup
    }

    /// What the step brought.
    mutating func answered(_ step: Step, _ answer: Answer) {
        switch (step, answer) {
        case (.askState, .success): break
        case (.drawTag, .success(let text)): tag = text
        case (.rename(let old), .success(let name)): renamed(old, to: Advertisement.label(name))
        case (.makeGroup, .success(let path)): spare = path
        case (.add(let path, let interface, let content), .success):
            spare = nil
            groups.append(Group(path: path, interface: interface, content: content))
        case (.commit(let path), .success):
            // The word that it is established may have come first.
            change(path) { if $0.stage == .added { $0.stage = .registering } }
        case (.update(let path, _, let content), .success): change(path) { $0.content = content }
        case (.free(let path), .success): freed(path)
        case (.lookFor, .success):
            // Avahi says goodbye there only when the name goes everywhere; it comes again where it is wanted.
            for group in groups { breakUp(group.path) }
        case (.farewell(let step), .success(let brought)):
            if let target = farewell.took(step, brought) { heard.remove(target) }
        case (_, .failure(let error)): failed(step, error)
        }
    }

    /// Whether there is anything to announce.
    var isWanted: Bool { wanted != nil }

    /// What is announced: nil while that is about to change by itself.
    var state: AdvertisingState? {
        guard wanted != nil else {
            return groups.isEmpty && spare == nil && heard.isEmpty && farewell.isIdle ? .off : nil
        }
        if isServing == false || problem != nil || !isPresent { return .unavailable }
        let isMoving = next != nil || groups.contains { $0.stage != .established }
        return isMoving ? nil : groups.isEmpty ? .unavailable : .on
    }

    /// What is announced now, while the state is on: under which name, and where.
    var standing: (name: String, port: UInt16, interfaces: [UInt32])? {
        guard state == .on, let content = groups.first?.content else { return nil }
        return (content.name, content.port, groups.map(\.interface).sorted())
    }

    // MARK: -

    private var contentNow: Content? {
        guard let wanted, let tag else { return nil }
        return Content(
            name: otherName ?? wanted.name, port: wanted.port, tag: tag,
            isPairingRequired: wanted.isPairingRequired)
    }

    private var missingInterface: UInt32? {
        wanted?.interfaces.first { index in
            refused[index] == nil && !groups.contains { $0.interface == index }
        }
    }

    private func isStale(_ group: Group) -> Bool {
        guard let wanted, !group.isOver, !isNameTaken else { return true }
        return !wanted.interfaces.contains(group.interface) || group.content.port != wanted.port
            || group.content.name != otherName ?? wanted.name
    }

    /// The last one of a name to go is the one that Avahi says goodbye for: not where the name comes again.
    private var nextStale: Group? {
        groups.first { isStale($0) && isWanted($0.target) } ?? groups.first(where: isStale)
    }

    /// Whether the name is to be out there.
    private func isWanted(_ target: AvahiFarewell.Target) -> Bool {
        guard let wanted, !isNameTaken, refused[target.interface] == nil else { return false }
        return wanted.interfaces.contains(target.interface) && target.name == otherName ?? wanted.name
    }

    /// Where a name was heard that is not for there any more, in a fixed order.
    private var unwanted: [AvahiFarewell.Target] {
        heard.filter { !isWanted($0) }.sorted { ($0.interface, $0.name) < ($1.interface, $1.name) }
    }

    /// One whose name stays out elsewhere.
    private var left: AvahiFarewell.Target? {
        unwanted.first { target in groups.contains { !isStale($0) && $0.content.name == target.name } }
    }

    /// One whose name is out nowhere, and who was not told.
    private var silent: AvahiFarewell.Target? {
        unwanted.first { target in !groups.contains { $0.content.name == target.name } }
    }

    private mutating func freed(_ path: String) {
        let group = groups.first { $0.path == path }
        forget(path)
        // Avahi says goodbye for what it has announced, when nothing of that name is left.
        guard let group, group.stage == .established else { return }
        if !groups.contains(where: { $0.content.name == group.content.name }) { heard.remove(group.target) }
    }

    private mutating func renamed(_ old: String, to name: String) {
        renames += 1
        guard !name.isEmpty, name != old, renames <= Self.mostRenames else {
            problem = BusError(.refused, "every name like \(old) is taken on this network")
            return
        }
        otherName = name
        isNameTaken = false
        tag = nil
    }

    private mutating func failed(_ step: Step, _ error: BusError) {
        let isAnswer = error.code == .refused
        switch step {
        case .lookFor(let interface) where isAnswer:
            // It went, and with it everybody who could hear a goodbye.
            heard = heard.filter { $0.interface != interface }
            return
        case .farewell(let step):
            // What cannot be said is not said: the name goes by itself in the end.
            heard.subtract(unwanted)
            farewell.failed(step)
            if isAnswer { return }
        case .free(let path):
            // Gone, or it will be when Avahi gets to it.
            forget(path)
            if isAnswer { return }
        case .add(_, let interface, _) where isAnswer:
            if error.name == Self.collisionError {
                isNameTaken = true
                return
            }
            refused[interface] = error
            if missingInterface != nil || !groups.isEmpty { return }
        case .makeGroup where isAnswer && !groups.isEmpty:
            // As many as it gives one client; the record stays where it is.
            if let missing = missingInterface { refused[missing] = error }
            return
        case .add(let path, let interface, let content):
            // Added or not: nobody knows.
            spare = nil
            groups.append(Group(path: path, interface: interface, content: content))
            breakUp(path)
        case .commit(let path): breakUp(path)
        case .update(let path, _, _):
            breakUp(path)
            if isAnswer { return }
        case .askState, .drawTag, .rename, .makeGroup, .lookFor: break
        }
        problem = error
    }

    private mutating func change(_ path: String, _ body: (inout Group) -> Void) {
        if let index = groups.firstIndex(where: { $0.path == path }) { body(&groups[index]) }
    }

    /// To be freed, then registered again, which takes another tag.
    private mutating func breakUp(_ path: String) {
        change(path) { $0.isOver = true }
        tag = nil
    }

    private mutating func forget(_ path: String) {
        groups.removeAll { $0.path == path }
        if spare == path { spare = nil }
    }
}
