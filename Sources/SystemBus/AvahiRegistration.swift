// SPDX-License-Identifier: Apache-2.0

internal import Policy

/// What this process has registered at Avahi, what it should have, and the next call that brings the two nearer. Makes
/// no call itself: `AvahiUser` makes them, one at a time, and brings the answers.
///
/// Each interface has an entry group of its own, so that one that comes or goes leaves the record on the others alone,
/// and one that Avahi refuses keeps nobody else from being heard. All of them say the same: a network that two of the
/// host's interfaces are on must not hear two records of one name.
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
        /// With its goodbye on the network.
        case free(group: String)
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
        /// To be freed, and made again while it is wanted.
        case broken
    }

    private struct Group: Sendable {
        let path: String
        let interface: UInt32
        var content: Content
        var stage: Stage
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
        guard let index = groups.firstIndex(where: { $0.path == path }), groups[index].stage != .broken else {
            return
        }
        switch state {
        case AvahiWords.groupRegistering: groups[index].stage = .registering
        case AvahiWords.groupEstablished: groups[index].stage = .established
        case AvahiWords.groupCollision: isNameTaken = true
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
        if let stale = groups.first(where: isStale) { return .free(group: stale.path) }
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
            groups.append(Group(path: path, interface: interface, content: content, stage: .added))
        case (.commit(let path), .success):
            // The word that it is established may have come first.
            change(path) { if $0.stage == .added { $0.stage = .registering } }
        case (.update(let path, _, let content), .success): change(path) { $0.content = content }
        case (.free(let path), .success): forget(path)
        case (_, .failure(let error)): failed(step, error)
        }
    }

    /// Whether there is anything to announce.
    var isWanted: Bool { wanted != nil }

    /// What is announced: nil while that is about to change by itself.
    var state: AdvertisingState? {
        guard wanted != nil else { return groups.isEmpty && spare == nil ? .off : nil }
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
        guard let wanted, group.stage != .broken, !isNameTaken else { return true }
        return !wanted.interfaces.contains(group.interface) || group.content.port != wanted.port
            || group.content.name != otherName ?? wanted.name
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
            groups.append(Group(path: path, interface: interface, content: content, stage: .added))
            breakUp(path)
        case .commit(let path): breakUp(path)
        case .update(let path, _, _):
            breakUp(path)
            if isAnswer { return }
        case .askState, .drawTag, .rename, .makeGroup: break
        }
        problem = error
    }

    private mutating func change(_ path: String, _ body: (inout Group) -> Void) {
        if let index = groups.firstIndex(where: { $0.path == path }) { body(&groups[index]) }
    }

    /// To be freed, then registered again, which takes another tag.
    private mutating func breakUp(_ path: String) {
        change(path) { $0.stage = .broken }
        tag = nil
    }

    private mutating func forget(_ path: String) {
        groups.removeAll { $0.path == path }
        if spare == path { spare = nil }
    }
}
