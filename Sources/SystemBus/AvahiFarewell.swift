// SPDX-License-Identifier: Apache-2.0

/// The goodbyes that Avahi 0.8 leaves out. It says goodbye for a record only when nothing like it is left anywhere, and
/// looks at names alone, not at interfaces: of a name that was out on three networks, two never hear that it went, and
/// their devices show it for another 75 minutes. So once nothing of that name is out any more, the record that lists it is
/// put out again on each of those networks and taken back at once, which makes it the only one of its kind and its
/// goodbye heard.
struct AvahiFarewell: Sendable {
    /// A name that devices on a network still know of.
    struct Target: Sendable, Hashable {
        let interface: UInt32
        let name: String
    }

    /// The next call.
    enum Step: Sendable, Equatable {
        case askDomain
        case makeGroup
        case add(group: String, Target, domain: String)
        case commit(group: String)
        case free(group: String)
    }

    private enum Stage: Sendable {
        case idle
        case made(String)
        case added(String, Target)
        case committed(String, Target)
    }

    private var stage = Stage.idle
    private var domain: String?

    /// Whether nothing of a goodbye is at Avahi.
    var isIdle: Bool { if case .idle = stage { true } else { false } }

    /// `target` is whom to say goodbye to next; one that was begun is brought to its end before.
    func next(for target: Target?) -> Step? {
        switch stage {
        case .added(let path, _): return .commit(group: path)
        case .committed(let path, _): return .free(group: path)
        case .made(let path):
            guard let target, let domain else { return .free(group: path) }
            return .add(group: path, target, domain: domain)
        case .idle:
            if target == nil { return nil }
            return domain == nil ? .askDomain : .makeGroup
        }
    }

    /// What a step brought. Returns who has heard a goodbye by it.
    mutating func took(_ step: Step, _ brought: String) -> Target? {
        switch step {
        case .askDomain: domain = brought
        case .makeGroup: stage = .made(brought)
        case .add(let path, let target, _): stage = .added(path, target)
        case .commit(let path): if case .added(_, let target) = stage { stage = .committed(path, target) }
        case .free:
            defer { stage = .idle }
            if case .committed(_, let target) = stage { return target }
        }
        return nil
    }

    /// A step that failed leaves at most a group to be freed.
    mutating func failed(_ step: Step) {
        switch step {
        case .askDomain, .makeGroup, .free: stage = .idle
        case .add(let path, _, _), .commit(let path): stage = .made(path)
        }
    }

    /// The service's entry in the list of its type, as DNS writes it: the name is one label, whatever it holds.
    static func listed(_ name: String, type: String, domain: String) -> [UInt8] {
        let labels = [name] + "\(type).\(domain)".split(separator: ".").map(String.init)
        return labels.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8) } + [0]
    }
}
