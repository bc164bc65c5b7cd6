// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Policy

/// Follows logind and says what it means for the lock (03 §13), at every change. Nothing polls; only what could not be
/// read is read again, after growing pauses.
package final class LogindWatcher: BusUser {
    /// Whose desktop it is about.
    package struct Users: Sendable, Equatable {
        /// `--desktop-user`; nil: not said.
        package var configured: UInt32?
        /// Who this service runs as.
        package var own: UInt32

        package init(configured: UInt32?, own: UInt32) {
            self.configured = configured
            self.own = own
        }
    }

    /// What is told, on the bus's thread.
    package struct Reports: Sendable {
        /// Another verdict than before; the first is compared with silent.
        package var witness: @Sendable (LockPolicy.Witness) -> Void
        /// logind could not be read; why, for people. Once until it could.
        package var problem: @Sendable (String) -> Void

        package init(
            witness: @escaping @Sendable (LockPolicy.Witness) -> Void,
            problem: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.witness = witness
            self.problem = problem
        }
    }

    private let link: BusLink
    private let limit: Duration
    private let reports: Reports
    private var pauses: ReconnectPauses
    private var model: LogindModel
    private var last = LockPolicy.Witness.silent
    private var owner: String?
    private var name: BusSubscription?
    private var signals: BusSubscription?
    private var retry: Timer?
    private var lastProblem = ""
    private var isProblemTold = false

    /// `limit` is how long each answer may take; `pauses` come between readings that failed.
    package init(
        _ link: BusLink, _ users: Users, limit: Duration = BusCall.usualLimit,
        pauses: ReconnectPauses = .usual,
        _ reports: Reports
    ) {
        self.link = link
        self.limit = limit
        self.pauses = pauses
        self.reports = reports
        model = LogindModel(configuredUser: users.configured, ownUser: users.own)
    }

    package func busConnected() {
        name = link.follow(name: Logind.name) { [unowned self] in ownerIs($0) }
    }

    package func busLost() {
        name = nil
        signals = nil
        owner = nil
        model.end()
        step()
    }

    private func ownerIs(_ found: Result<String?, BusError>) {
        signals = nil
        owner = nil
        switch found {
        case .success(let found?):
            owner = found
            model.begin()
        case .success(nil): model.end()
        case .failure(let error):
            lastProblem = error.message
            model.ownerUnreadable()
        }
        step()
    }

    /// What follows from a change of the model.
    private func step() {
        for asked in model.takeQuestions() { put(asked) }
        let witness = LogindPolicy.judge(model.facts)
        if witness != last {
            last = witness
            reports.witness(witness)
        }
        if model.isReading { return }
        guard model.hasFailed else {
            pauses.reset()
            retry = nil
            isProblemTold = false
            return
        }
        if !isProblemTold { reports.problem(lastProblem) }
        isProblemTold = true
        if retry == nil { retry = link.timer(after: pauses.next()) { [unowned self] in readAgain() } }
    }

    private func readAgain() {
        retry = nil
        if owner == nil { return busConnected() }
        model.readAll()
        step()
    }

    private func put(_ asked: LogindModel.Asked) {
        guard let owner else { return }
        let answered: (BusAnswer) -> Void = { [unowned self] answer in
            if case .failure(let error) = answer { lastProblem = error.message }
            model.answered(asked, answer)
            step()
        }
        if var call = asked.question.call(to: owner) {
            call.limit = limit
            link.call(call, answered)
        } else {
            let all = BusMatch(sender: owner, place: .under(Logind.path))
            signals = link.listen(all, installed: { answered($0.map { [] }) }) { [unowned self] signal in
                model.heard(signal)
                step()
            }
        }
    }
}
