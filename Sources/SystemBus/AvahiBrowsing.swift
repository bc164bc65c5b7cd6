// SPDX-License-Identifier: Apache-2.0

/// What of a search is at Avahi: one browser for the type, and a resolver for each service that is to be looked up. Names
/// the next call and says what its signals mean. Makes no call itself: `AvahiBrowser` makes them, one at a time.
///
/// An object's first signals may come before the answer that says where it is. They are kept while a call for an object is
/// under way, and read when its path is known.
struct AvahiBrowsing {
    /// One call.
    enum Step: Sendable, Equatable {
        case browse
        case resolve(AvahiService)
        case freeBrowser(String)
        case freeResolver(String)
    }

    /// Signals kept for an object whose path is not known yet. A browser tells of everything it knows at once, and what is
    /// beyond this is not looked at by anybody.
    static let mostEarly = 2048

    private var isPresent = false
    private var underWay: Step?
    private var early: [BusSignal] = []
    private var browser: String?
    private var resolvers: [AvahiService: String] = [:]
    private var services: [String: AvahiService] = [:]
    private var wanted: [AvahiService] = []
    /// Avahi made no resolver for these.
    private var refused: Set<AvahiService> = []
    /// Objects that nobody needs any more.
    private var left: [Step] = []
    /// Why nothing is listed until `retry`.
    private(set) var problem: String?

    /// Whether something would be tried again by `retry`.
    var hasFailed: Bool { problem != nil || !refused.isEmpty }

    /// Whether everything that is wanted is at Avahi.
    var isSettled: Bool { isPresent && underWay == nil && !hasFailed && next == nil }

    // MARK: What happens

    /// Avahi came, or was replaced by another: nothing of ours is there.
    mutating func arrived() {
        self = AvahiBrowsing()
        isPresent = true
    }

    /// Avahi went, and every object with it.
    mutating func gone() { self = AvahiBrowsing() }

    /// The services to be looked up from now on, the first ones first.
    mutating func want(_ services: [AvahiService]) {
        guard services != wanted else { return }
        wanted = services
        let kept = Set(services)
        refused.formIntersection(kept)
        for (service, path) in resolvers where !kept.contains(service) { leave(service, path) }
    }

    private mutating func leave(_ service: AvahiService, _ path: String) {
        resolvers[service] = nil
        services[path] = nil
        left.append(.freeResolver(path))
    }

    /// What failed may be tried again.
    mutating func retry() {
        problem = nil
        refused = []
    }

    // MARK: What to do

    /// The next call; nil while one is under way, or none is needed. Its answer goes to `answered`.
    mutating func takeNext() -> Step? {
        guard isPresent, underWay == nil, let step = next else { return nil }
        underWay = step
        return step
    }

    private var next: Step? {
        if let step = left.first { return step }
        if browser == nil { return problem == nil ? .browse : nil }
        let missing = wanted.first { resolvers[$0] == nil && !refused.contains($0) }
        return missing.map { .resolve($0) }
    }

    /// What the call under way brought: the path of what was made.
    mutating func answered(_ answer: Result<String, BusError>) -> [AvahiEvent] {
        guard let step = underWay else { return [] }
        underWay = nil
        let kept = early
        early = []
        switch (step, answer) {
        case (.freeBrowser, _), (.freeResolver, _):
            left.removeAll { $0 == step }
            return []
        case (.browse, .failure(let error)):
            problem = error.message
            return [.ended(.failed(error.message))]
        case (.browse, .success(let path)): browser = path
        case (.resolve(let service), .failure):
            refused.insert(service)
            return [.notFound(service)]
        case (.resolve(let service), .success(let path)):
            resolvers[service] = path
            services[path] = service
            // It was given up meanwhile.
            guard wanted.contains(service) else {
                leave(service, path)
                return []
            }
        }
        return (step == .browse ? [.began] : []) + kept.flatMap { heard($0) }
    }

    // MARK: What it means

    /// What a signal of Avahi says; nothing when it is of an object that is not ours, or makes no sense.
    mutating func heard(_ signal: BusSignal) -> [AvahiEvent] {
        switch signal.interface {
        case AvahiWords.browser where signal.path == browser: return browserSaid(signal)
        case AvahiWords.resolver where services[signal.path] != nil:
            return services[signal.path].map { resolverSaid(signal, of: $0) } ?? []
        default:
            if isMaking, early.count < Self.mostEarly { early.append(signal) }
            return []
        }
    }

    private var isMaking: Bool {
        switch underWay {
        case .browse, .resolve: true
        case .freeBrowser, .freeResolver, nil: false
        }
    }

    private mutating func browserSaid(_ signal: BusSignal) -> [AvahiEvent] {
        switch signal.member {
        case AvahiWords.itemNew: return AvahiWords.service(signal.arguments).map { [.listed($0)] } ?? []
        case AvahiWords.itemRemove:
            guard let service = AvahiWords.service(signal.arguments) else { return [] }
            refused.remove(service)
            return [.unlisted(service)]
        case AvahiWords.allForNow: return [.allForNow]
        case AvahiWords.failure:
            let why = signal.arguments.first?.text ?? "without a reason"
            problem = "Avahi stopped listing: \(why)"
            left.append(.freeBrowser(signal.path))
            browser = nil
            want([])
            return [.ended(.failed(problem ?? why))]
        default: return []
        }
    }

    private func resolverSaid(_ signal: BusSignal, of service: AvahiService) -> [AvahiEvent] {
        switch signal.member {
        case AvahiWords.found:
            return [AvahiWords.record(signal.arguments).map { .found(service, $0) } ?? .notFound(service)]
        case AvahiWords.failure: return [.notFound(service)]
        default: return []
        }
    }
}
