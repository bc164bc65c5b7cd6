// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Policy

/// What an advertiser has to tell; the words are the reader's.
package enum AdvertisingNote: Sendable, Equatable {
    /// The record is out under this name (not the host's, when that was taken), at this port, on these interfaces.
    case announced(name: String, port: UInt16, interfaces: [UInt32])
    /// Nobody on the bus is Avahi. Once, until it has come.
    case absent
    /// Avahi takes no record for this interface.
    case refused(interface: UInt32, why: String)
    /// Avahi did not do it; tried again by itself. Once, until it worked.
    case failed(why: String)
}

/// Registers the record at Avahi. Lives on the bus's thread.
package final class AvahiUser: BusUser {
    /// Whom the advertiser talks to, besides Avahi.
    package struct Handlers: Sendable {
        /// The text of a fresh `r`; throws when the system has no randomness.
        package var tag: @Sendable () throws -> String
        /// What became of the record; called when it changes.
        package var state: @Sendable (AdvertisingState) -> Void
        package var note: @Sendable (AdvertisingNote) -> Void

        package init(
            tag: @escaping @Sendable () throws -> String,
            state: @escaping @Sendable (AdvertisingState) -> Void,
            note: @escaping @Sendable (AdvertisingNote) -> Void
        ) {
            self.tag = tag
            self.state = state
            self.note = note
        }
    }

    /// Between tries of what Avahi did not do: it may be told to refuse, and then asking again is noise.
    static let usualPauses = ReconnectPauses([.seconds(1), .seconds(5), .seconds(30), .seconds(300)])

    private let link: BusLink
    private let handlers: Handlers
    private var pauses: ReconnectPauses
    private var registration = AvahiRegistration()
    private var owner: BusSubscription?
    private var signals: [BusSubscription] = []
    private var avahi: String?
    /// The bus said that nobody is Avahi.
    private var isAbsent = false
    /// Counts the Avahis seen: an answer of an earlier one is nobody's.
    private var generation = 0
    private var isBusy = false
    private var retry: Timer?
    private var whenWithdrawn: (() -> Void)?

    // What was told, so that nothing is told twice.
    private var toldState: AdvertisingState?
    private var toldStanding: AdvertisingNote?
    private var toldRefused: Set<UInt32> = []
    private var isAbsenceTold = false
    private var isFailureTold = false

    package convenience init(_ link: BusLink, _ handlers: Handlers) {
        self.init(link, handlers, pauses: Self.usualPauses)
    }

    init(_ link: BusLink, _ handlers: Handlers, pauses: ReconnectPauses) {
        self.link = link
        self.handlers = handlers
        self.pauses = pauses
    }

    package func busConnected() {
        owner = link.follow(name: AvahiWords.name) { [weak self] owner in self?.avahiIs(try? owner.get()) }
    }

    package func busLost() {
        owner = nil
        avahiWent()
        proceed()
    }

    /// What should be announced from now on; nil: nothing.
    func announce(_ advertisement: Advertisement?) {
        registration.want(advertisement)
        toldRefused.formIntersection(advertisement?.interfaces ?? [])
        proceed()
    }

    /// Withdraws what is announced. `done` is called once, when Avahi has done it or is not there to.
    func withdraw(_ done: @escaping () -> Void) {
        whenWithdrawn = done
        announce(nil)
    }

    // MARK: Avahi

    private func avahiIs(_ unique: String?) {
        avahiWent()
        avahi = unique
        isAbsent = unique == nil
        if let unique {
            isAbsenceTold = false
            toldRefused = []
            registration.arrived()
            signals = [
                link.listen(
                    BusMatch(
                        sender: unique, place: .at(AvahiWords.serverPath), interface: AvahiWords.server,
                        member: AvahiWords.stateChanged)
                ) { [weak self] signal in self?.heard(signal) },
                link.listen(
                    BusMatch(
                        sender: unique, place: .under("/"), interface: AvahiWords.group,
                        member: AvahiWords.stateChanged)
                ) { [weak self] signal in self?.heard(signal) },
            ]
        }
        proceed()
    }

    private func avahiWent() {
        generation += 1
        isBusy = false
        avahi = nil
        isAbsent = false
        signals = []
        registration.gone()
    }

    private func heard(_ signal: BusSignal) {
        guard let state = signal.arguments.first?.signedNumber else { return }
        if signal.interface == AvahiWords.server {
            registration.serverChanged(state)
        } else {
            registration.groupChanged(signal.path, state)
        }
        proceed()
    }

    // MARK: Steps

    /// Makes the next call, unless one is under way, and tells what has come of those before.
    private func proceed() {
        while !isBusy, let step = registration.next {
            if step == .drawTag {
                registration.answered(step, drawTag())
                continue
            }
            guard let avahi, let call = AvahiWords.call(step, to: avahi) else { break }
            isBusy = true
            let generation = generation
            link.call(call) { [weak self] answer in
                guard let self, generation == self.generation else { return }
                isBusy = false
                took(step, answer)
                proceed()
            }
        }
        tell()
    }

    private func took(_ step: AvahiRegistration.Step, _ answer: BusAnswer) {
        let brought: AvahiRegistration.Answer = answer.flatMap { values in
            let text: String?
            switch step {
            case .askState:
                if let state = values.first?.signedNumber { registration.serverChanged(state) }
                text = values.first?.signedNumber == nil ? nil : ""
            case .rename, .lookFor, .farewell(.askDomain): text = values.first?.text
            case .makeGroup, .farewell(.makeGroup): text = values.first?.path
            case .drawTag, .add, .commit, .update, .free, .farewell: text = ""
            }
            return text.map { .success($0) }
                ?? .failure(BusError(.unreadable, "Avahi's answer cannot be read"))
        }
        registration.answered(step, brought)
    }

    private func drawTag() -> AvahiRegistration.Answer {
        do { return .success(try handlers.tag()) } catch {
            return .failure(BusError(.unreadable, "the system gives no randomness"))
        }
    }

    // MARK: Telling

    private func tell() {
        let state = registration.state
        if let state, state != toldState {
            toldState = state
            handlers.state(state)
        }
        if let standing = registration.standing {
            pauses.reset()
            isFailureTold = false
            let note = AdvertisingNote.announced(
                name: standing.name, port: standing.port, interfaces: standing.interfaces)
            if note != toldStanding { handlers.note(note) }
            toldStanding = note
        } else if state != nil {
            toldStanding = nil
        }
        for (interface, error) in registration.refused.sorted(by: { $0.key < $1.key })
        where toldRefused.insert(interface).inserted {
            handlers.note(.refused(interface: interface, why: error.message))
        }
        if isAbsent && !isAbsenceTold && registration.isWanted {
            isAbsenceTold = true
            handlers.note(.absent)
        }
        if let problem = registration.problem { failed(problem) }
        if state == .off, let done = whenWithdrawn {
            whenWithdrawn = nil
            done()
        }
    }

    private func failed(_ problem: BusError) {
        if !isFailureTold {
            isFailureTold = true
            handlers.note(.failed(why: problem.message))
        }
        guard retry == nil else { return }
        retry = link.timer(after: pauses.next()) { [weak self] in
            guard let self else { return }
            retry = nil
            registration.retry()
            proceed()
        }
    }
}
