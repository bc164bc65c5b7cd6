// SPDX-License-Identifier: Apache-2.0

package import EventLoop
internal import Sockets

/// Somebody who works on the bus's thread for as long as there is one.
package protocol BusUser: AnyObject, SendableMetatype {
    /// The bus is there: calls can be made, and subscriptions begin anew.
    func busConnected()
    /// The bus is gone, and with it every subscription; what was called fails right after this.
    func busLost()
}

/// The bus as its users see it, on the thread they share. Never leaves that thread.
package final class BusLink {
    private struct Listener {
        let match: BusMatch
        let handler: (BusSignal) -> Void
    }

    private let place: BusPlace
    private let loop: EventLoop
    private let note: (BusState) -> Void
    private var pauses: ReconnectPauses
    private var connection: BusConnection?
    private var retry: Timer?
    private var listeners: [Int: Listener] = [:]
    private var lastListener = 0
    private var users: [Int: any BusUser] = [:]
    /// What failed at once is told from the loop, so that no answer comes before its call has returned.
    private var undelivered: [() -> Void] = []
    private var delivery: Timer?
    private var isFailureNoted = false
    /// Whether the users were told that the bus is there.
    private var isUp = false

    init(_ place: BusPlace, loop: EventLoop, note: @escaping (BusState) -> Void) {
        self.place = place
        pauses = place.pauses
        self.loop = loop
        self.note = note
    }

    /// Whether calls can be made.
    package var isConnected: Bool { connection?.isReady ?? false }

    /// What the bus calls this process; empty without a connection.
    var ownName: String { connection?.ownName ?? "" }

    /// Calls `handler` once, after at least `delay`; never when the timer ended before.
    package func timer(after delay: Duration, _ handler: @escaping () -> Void) -> Timer {
        loop.timer(after: delay, handler)
    }

    /// Makes a call; `answer` is called once, after this has returned, on this thread.
    package func call(_ call: BusCall, _ answer: @escaping (BusAnswer) -> Void) {
        do throws(BusError) {
            guard let connection else {
                throw BusError(.lost, "\(call.member): there is no connection to the bus")
            }
            try connection.call(call, answer)
        } catch {
            deliver { answer(.failure(error)) }
        }
    }

    /// Reads one property (`org.freedesktop.DBus.Properties.Get`).
    package func property(
        _ name: String, of interface: String, at path: String, from owner: String,
        _ answer: @escaping (Result<BusValue, BusError>) -> Void
    ) {
        let call = BusCall(
            to: owner, path: path, interface: Self.properties, member: "Get",
            [.string(interface), .string(name)])
        self.call(call) { found in
            answer(
                found.flatMap { values in
                    guard values.count == 1, let value = values[0].held else {
                        return .failure(BusError(.unreadable, "\(interface).\(name): not a property's value"))
                    }
                    return .success(value)
                })
        }
    }

    /// Reads all properties of an interface (`org.freedesktop.DBus.Properties.GetAll`).
    package func properties(
        of interface: String, at path: String, from owner: String,
        _ answer: @escaping (Result<[String: BusValue], BusError>) -> Void
    ) {
        let call = BusCall(
            to: owner, path: path, interface: Self.properties, member: "GetAll", [.string(interface)])
        self.call(call) { found in
            answer(
                found.flatMap { values in
                    guard values.count == 1, let properties = values[0].properties else {
                        return .failure(BusError(.unreadable, "\(interface): not a list of properties"))
                    }
                    return .success(properties)
                })
        }
    }

    /// The interface of property calls and of their `PropertiesChanged`.
    package static let properties = "org.freedesktop.DBus.Properties"

    /// Calls `handler` for each signal that fits, until the subscription or the connection ends.
    ///
    /// Signals and answers of one sender arrive in the order it sent them, so a value read by a call that was made after
    /// this one misses no change. `installed` tells whether the bus agreed; without it signals may be missing.
    package func listen(
        _ match: BusMatch, installed: @escaping (Result<Void, BusError>) -> Void = { _ in },
        _ handler: @escaping (BusSignal) -> Void
    ) -> BusSubscription {
        lastListener += 1
        let number = lastListener
        listeners[number] = Listener(match: match, handler: handler)
        call(.toBus("AddMatch", match.rule)) { answer in installed(answer.map { _ in }) }
        return BusSubscription(link: self, number: number)
    }

    /// Tells who owns a well-known name, now and at every change: its unique name, nil while nobody does, a failure when
    /// the bus does not say.
    package func follow(
        name: String, _ handler: @escaping (Result<String?, BusError>) -> Void
    ) -> BusSubscription {
        var last: Result<String?, BusError>?
        let tell: (Result<String?, BusError>) -> Void = { owner in
            if case .failure = owner, case .failure = last { return }
            if owner == last { return }
            last = owner
            handler(owner)
        }
        let match = BusMatch(
            sender: BusMatch.busName, place: .at(BusMatch.busPath), interface: BusMatch.busName,
            member: "NameOwnerChanged", firstArgument: name)
        let subscription = listen(
            match,
            installed: { if case .failure(let error) = $0, error.code != .lost { tell(.failure(error)) } }
        ) { signal in
            guard signal.arguments.count == 3, signal.arguments[0] == .string(name),
                let owner = signal.arguments[2].text
            else { return }
            tell(.success(owner.isEmpty ? nil : owner))
        }
        call(.toBus("GetNameOwner", name)) { [weak subscription] answer in
            guard let subscription, subscription.isActive else { return }
            switch answer {
            case .success(let values):
                guard values.count == 1, let owner = values[0].text else {
                    return tell(.failure(BusError(.unreadable, "GetNameOwner: not a name")))
                }
                tell(.success(owner))
            case .failure(let error) where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner":
                tell(.success(nil))
            case .failure(let error): if error.code != .lost { tell(.failure(error)) }
            }
        }
        return subscription
    }

    // MARK: For the thread

    /// Connects, now and again whenever the bus is lost.
    func connect() {
        retry = nil
        do throws(BusError) {
            connection = try BusConnection(
                address: place.address, limit: place.connectLimit, loop: loop,
                BusConnection.Handlers(
                    ready: { [unowned self] in becameReady() }, lost: { [unowned self] in lost($0) },
                    signal: { [unowned self] in arrived($0) }))
        } catch {
            lost(error.message)
        }
    }

    func add(_ user: any BusUser, number: Int) {
        users[number] = user
        if isUp { user.busConnected() }
    }

    /// Ends it all: nobody is called any more. Users and link hold each other until then.
    func close() {
        // What goes with them ends its subscriptions, and so comes back here: not in the middle of an assignment.
        let dropped = (users, listeners, undelivered)
        users = [:]
        listeners = [:]
        undelivered = []
        retry = nil
        delivery = nil
        connection = nil
        withExtendedLifetime(dropped) {}
    }

    func user(_ number: Int) -> (any BusUser)? { users[number] }

    private func becameReady() {
        pauses.reset()
        isUp = true
        isFailureNoted = false
        note(.connected)
        for user in orderedUsers { user.busConnected() }
    }

    private func lost(_ why: String) {
        let wasUp = isUp
        isUp = false
        connection = nil
        let dropped = listeners
        listeners = [:]
        withExtendedLifetime(dropped) {}
        if !isFailureNoted { note(.lost(why)) }
        isFailureNoted = true
        retry = loop.timer(after: pauses.next()) { [unowned self] in connect() }
        if wasUp { for user in orderedUsers { user.busLost() } }
    }

    private var orderedUsers: [any BusUser] { users.sorted { $0.key < $1.key }.map(\.value) }

    private func arrived(_ message: BusMessage) {
        let (sender, path, interface, member) = (
            message.sender, message.path, message.interface, message.member
        )
        let fitting = listeners.filter {
            $0.value.match.fits(sender: sender, path: path, interface: interface, member: member)
        }
        guard !fitting.isEmpty else { return }
        let arguments: [BusValue]
        do throws(BusMessage.Failure) { arguments = try message.values() } catch { arguments = [] }
        let signal = BusSignal(
            sender: sender, path: path, interface: interface, member: member, arguments: arguments)
        for number in fitting.keys.sorted() {
            // One before it may have ended it.
            guard let listener = listeners[number] else { continue }
            if let first = listener.match.firstArgument, arguments.first?.text != first { continue }
            listener.handler(signal)
        }
    }

    fileprivate func end(_ number: Int) {
        guard let listener = listeners.removeValue(forKey: number), isConnected else { return }
        call(.toBus("RemoveMatch", listener.match.rule)) { _ in }
    }

    fileprivate func isListening(_ number: Int) -> Bool { listeners[number] != nil }

    private func deliver(_ job: @escaping () -> Void) {
        undelivered.append(job)
        if undelivered.count > 1 { return }
        delivery = loop.timer(after: .zero) { [unowned self] in
            let jobs = undelivered
            undelivered = []
            for job in jobs { job() }
        }
    }
}

/// A wish to hear signals. Ends with its last reference; the connection's end ends it too.
package final class BusSubscription {
    private weak var link: BusLink?
    private let number: Int

    fileprivate init(link: BusLink, number: Int) {
        self.link = link
        self.number = number
    }

    deinit { cancel() }

    /// Nothing is heard after this.
    package func cancel() { link?.end(number) }

    /// Whether signals still come by it.
    package var isActive: Bool { link?.isListening(number) ?? false }
}
