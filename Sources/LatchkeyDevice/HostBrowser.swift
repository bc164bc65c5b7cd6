// SPDX-License-Identifier: Apache-2.0

internal import NetFacts
internal import Policy
internal import Sockets
internal import Synchronization
package import SystemBus

/// Lists the hosts on this machine's networks by Avahi (02 §7.3): one thread, which sleeps until Avahi says something.
///
/// A machine without a running Avahi, or without a system bus, lists nothing; as soon as there is one, the search begins.
/// ``Status`` says which it is.
package final class HostBrowser: RowSource {
    /// How the search stands.
    package enum Status: Sendable, Equatable {
        /// Avahi lists; more may come at any time.
        case searching
        /// Whoever answers has most likely answered.
        case complete
        /// No Avahi runs on this machine. It is waited for.
        case noAvahi
        /// No system bus; why. It is looked for with growing pauses.
        case noBus(String)
        /// Avahi refuses; why. Tried again with growing pauses.
        case failed(String)
    }

    private struct Running {
        let bus: Bus
        let user: BusUserHandle<BrowseUser>
    }

    private let device: Device
    private let place: BusPlace
    private let status: @Sendable (Status) -> Void
    private let running = Mutex<Running?>(nil)

    /// Recognises the saved hosts of `device`. `status` is told each change of it, on the thread that tells of rows, after
    /// the rows that belong to it.
    package init(
        device: Device, bus place: BusPlace = .system, status: @escaping @Sendable (Status) -> Void = { _ in }
    ) {
        self.device = device
        self.place = place
        self.status = status
    }

    /// Begins to search. Throws when the saved hosts cannot be read, when the system has no thread or descriptor left, and
    /// when the search runs already; not for want of Avahi.
    package func start(_ changed: @escaping @Sendable ([BrowsedRow]) -> Void) throws(RowSourceError) {
        let hosts = try knownHosts()
        let status = status
        do {
            try running.withLock { running in
                guard running == nil else { throw RowSourceError(message: "the search runs already") }
                let bus = try Bus(place)
                let user = bus.add { link in BrowseUser(link, hosts, changed: changed, status: status) }
                try bus.start { state in
                    if case .lost(let why) = state { status(.noBus(why)) }
                }
                running = Running(bus: bus, user: user)
            }
        } catch let error as SocketError {
            throw RowSourceError(message: error.message)
        } catch {
            throw error as? RowSourceError ?? RowSourceError(message: "\(error)")
        }
    }

    /// Ends the search, its thread, and with its connection everything it had at Avahi. Not to be called by what is told
    /// of changes. It may be started again.
    package func stop() {
        let ended = running.withLock { running in
            defer { running = nil }
            return running
        }
        ended?.bus.stop()
    }

    /// Reads the saved hosts again: after one was added or removed, rows name others. Throws when they cannot be read.
    package func savedHostsChanged() throws(RowSourceError) {
        let hosts = try knownHosts()
        running.withLock { $0?.user }?.tell { $0.know(hosts: hosts) }
    }

    private func knownHosts() throws(RowSourceError) -> [BrowseBook.KnownHost] {
        do {
            return try device.hosts().map {
                BrowseBook.KnownHost(id: $0.id, recognitionKey: $0.recognitionKey)
            }
        } catch {
            throw RowSourceError(message: error.message)
        }
    }
}

/// The search on the bus's thread: hands Avahi's words to the book, and tells what changed.
private final class BrowseUser: BusUser {
    private let changed: ([BrowsedRow]) -> Void
    private let status: (HostBrowser.Status) -> Void
    private var avahi: AvahiBrowser?
    private var book: BrowseBook
    private var toldStatus: HostBrowser.Status?

    init(
        _ link: BusLink, _ hosts: [BrowseBook.KnownHost], changed: @escaping ([BrowsedRow]) -> Void,
        status: @escaping (HostBrowser.Status) -> Void
    ) {
        book = BrowseBook(hosts: hosts)
        self.changed = changed
        self.status = status
        avahi = AvahiBrowser(link) { [weak self] event in self?.heard(event) ?? [] }
    }

    func busConnected() { avahi?.busConnected() }
    func busLost() { avahi?.busLost() }

    func know(hosts: [BrowseBook.KnownHost]) {
        book.know(hosts: hosts)
        tellRows()
    }

    private func heard(_ event: AvahiEvent) -> [AvahiService] {
        book.hear(event)
        let unknown = book.unknownLinks
        if !unknown.isEmpty {
            let table = try? NetworkWatcher.read()
            for index in unknown { book.know(BrowseBook.Link(index, in: table), at: index) }
        }
        tellRows()
        switch event {
        case .ended(.noAvahi): tell(.noAvahi)
        case .ended(.failed(let why)): tell(.failed(why))
        // Whoever lost the bus has said so.
        case .ended(.noBus): toldStatus = nil
        default: tell(book.isComplete ? .complete : .searching)
        }
        return book.wanted
    }

    private func tellRows() {
        if let rows = book.takeRows() { changed(rows) }
    }

    private func tell(_ status: HostBrowser.Status) {
        guard status != toldStatus else { return }
        toldStatus = status
        self.status(status)
    }
}

extension BrowseBook.Link {
    /// As the kernel has it; an interface that is not there any more has a number for a name.
    init(_ index: UInt32, in table: InterfaceTable?) {
        guard let interface = table?.interface(index: index) else {
            self.init(name: interfaceName(index) ?? "\(index)")
            return
        }
        self.init(
            name: interface.name, isWired: CableClaim.isWired(interface.link),
            isPeerToPeer: interface.kind == .peerToPeer, isLoopback: interface.kind == .loopback)
    }
}
