// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Has Avahi list the home doors around (`_sill._tcp`), for as long as there is a bus and an Avahi, and again whenever
/// either comes back. Lives on the bus's thread; a part of a ``BusUser``, which hands on what it is told.
///
/// Everything it has at Avahi goes with the connection to the bus.
package final class AvahiBrowser {
    private let link: BusLink
    private let hear: (AvahiEvent) -> [AvahiService]
    private var pauses: ReconnectPauses
    private var browsing = AvahiBrowsing()
    private var owner: BusSubscription?
    private var signals: [BusSubscription] = []
    private var avahi: String?
    /// Counts the Avahis seen: an answer of an earlier one is nobody's.
    private var generation = 0
    private var retry: Timer?

    /// `hear` is told everything in order, on the bus's thread, and returns the services to be looked up from then on, the
    /// most wanted first. It does not call back.
    package convenience init(_ link: BusLink, hear: @escaping (AvahiEvent) -> [AvahiService]) {
        self.init(link, pauses: AvahiUser.usualPauses, hear: hear)
    }

    init(_ link: BusLink, pauses: ReconnectPauses, hear: @escaping (AvahiEvent) -> [AvahiService]) {
        self.link = link
        self.pauses = pauses
        self.hear = hear
    }

    /// To be called when the bus is there.
    package func busConnected() {
        owner = link.follow(name: AvahiWords.name) { [weak self] owner in self?.avahiIs(owner) }
    }

    /// To be called when it is gone.
    package func busLost() {
        owner = nil
        avahiWent()
        tell([.ended(.noBus)])
    }

    private func avahiIs(_ owner: Result<String?, BusError>) {
        avahiWent()
        switch owner {
        case .failure(let error): tell([.ended(.failed(error.message))])
        case .success(nil): tell([.ended(.noAvahi)])
        case .success(let unique?):
            avahi = unique
            browsing.arrived()
            // Before any call, so that no signal is missed.
            signals = [AvahiWords.browser, AvahiWords.resolver].map { interface in
                link.listen(BusMatch(sender: unique, place: .under("/"), interface: interface)) {
                    [weak self] signal in
                    guard let self else { return }
                    tell(browsing.heard(signal))
                    proceed()
                }
            }
        }
        proceed()
    }

    private func avahiWent() {
        generation += 1
        avahi = nil
        signals = []
        retry = nil
        browsing.gone()
    }

    private func tell(_ events: [AvahiEvent]) { for event in events { browsing.want(hear(event)) } }

    private func proceed() {
        while let avahi, let step = browsing.takeNext() {
            let generation = generation
            link.call(AvahiWords.call(step, to: avahi)) { [weak self] answer in
                guard let self, generation == self.generation else { return }
                tell(browsing.answered(answer.flatMap { Self.brought(step, $0) }))
                proceed()
            }
        }
        if browsing.isSettled { pauses.reset() }
        guard browsing.hasFailed, retry == nil else { return }
        retry = link.timer(after: pauses.next()) { [weak self] in
            guard let self else { return }
            retry = nil
            browsing.retry()
            proceed()
        }
    }

    private static func brought(_ step: AvahiBrowsing.Step, _ values: [BusValue]) -> Result<String, BusError>
    {
        switch step {
        case .freeBrowser, .freeResolver: .success("")
        case .browse, .resolve:
            values.first?.path.map { .success($0) }
                ?? .failure(BusError(.unreadable, "Avahi's answer cannot be read"))
        }
    }
}
