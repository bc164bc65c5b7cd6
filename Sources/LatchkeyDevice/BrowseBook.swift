// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import SystemBus
internal import Wire

/// What the network lists, as rows (02 §7.3, 03 §16). Told what Avahi says, in whatever order; answers which rows there are
/// and which services are to be looked up. Pure: nothing the network says makes it keep more than its limits.
///
/// One record may be heard on several interfaces and by both protocols: that is one row. Records of one name that differ in
/// tag, machine or port are several: a look-alike on another network then has a row of its own, which can be refused.
struct BrowseBook {
    /// A saved host, as its record is recognised.
    struct KnownHost: Sendable, Equatable {
        var id: String
        var recognitionKey: [UInt8]
    }

    /// What this machine knows about an interface.
    struct Link: Sendable, Equatable {
        var name: String
        /// A cable (``ListedRow/wiredInterface``).
        var isWired = false
        var isPeerToPeer = false
        var isLoopback = false
    }

    /// Services remembered, dozens of times what a network has. Beyond it, one that was looked at makes room; what comes
    /// while all of them are still being looked up is not listed.
    static let mostServices = 1024
    /// Services looked up at once.
    static let mostLookUps = 256
    /// Bytes of a name (one DNS label) and of a domain or machine (RFC 1035 §2.3.4; Avahi escapes what is not plain, up to
    /// four letters a byte).
    static let longestLabel = 63
    static let longestDomain = 4 * 255

    private enum Knowledge: Sendable {
        /// Being looked up.
        case waiting
        /// It could not be looked up, or says nothing that could be dialled.
        case silent
        case found(Answer)
    }

    private struct Answer: Sendable {
        var address: IPAddress
        var port: UInt16
        var target: String
        var tag: String?
        var hostID: String?
        var isTLS: Bool
    }

    private struct Place: Sendable {
        /// Counts up; the order in which they came.
        var arrival: Int
        var knowledge = Knowledge.waiting

        var isWaiting: Bool { if case .waiting = knowledge { true } else { false } }
        var hostID: String? { if case .found(let answer) = knowledge { answer.hostID } else { nil } }
    }

    /// One place of a row.
    private struct Member {
        let service: AvahiService
        let answer: Answer
        let arrival: Int
    }

    private var hosts: [KnownHost]
    private var links: [UInt32: Link] = [:]
    private var places: [AvahiService: Place] = [:]
    private var arrivals = 0
    private var isAllForNow = false
    /// Something changed that rows are made of.
    private var isChanged = false
    private var takenRows: [BrowsedRow] = []

    /// `hosts` are the saved ones, in the order they are shown.
    init(hosts: [KnownHost] = []) { self.hosts = hosts }

    // MARK: What happens

    /// Takes in what Avahi says.
    mutating func hear(_ event: AvahiEvent) {
        switch event {
        case .began, .ended:
            places = [:]
            links = [:]
            isAllForNow = false
            isChanged = true
        case .listed(let service): list(service)
        case .unlisted(let service):
            forget(service)
            // Its index may come back as another interface.
            if !places.keys.contains(where: { $0.interface == service.interface }) {
                links[service.interface] = nil
            }
        case .found(let service, let record):
            know(service, answer(record, on: service).map { .found($0) } ?? .silent)
        case .notFound(let service): know(service, .silent)
        case .allForNow: isAllForNow = true
        }
    }

    /// Other hosts are saved from now on.
    mutating func know(hosts: [KnownHost]) {
        self.hosts = hosts
        isChanged = true
        for (service, place) in places {
            guard case .found(var answer) = place.knowledge else { continue }
            answer.hostID = answer.tag.flatMap { host(ofTag: $0) }
            places[service]?.knowledge = .found(answer)
        }
    }

    /// What an interface is.
    mutating func know(_ link: Link, at index: UInt32) {
        links[index] = link
        isChanged = true
    }

    private mutating func list(_ service: AvahiService) {
        guard places[service] == nil, service.type == AvahiService.homeDoorType,
            (1...Self.longestLabel).contains(service.name.utf8.count),
            Self.isPlain(service.domain)
        else { return }
        if places.count >= Self.mostServices {
            let known = places.filter { !$0.value.isWaiting }
            let strangers = known.filter { $0.value.hostID == nil }
            // Who came first under a saved host's tag is most likely that host.
            guard
                let left = strangers.min(by: { $0.value.arrival < $1.value.arrival })
                    ?? known.max(by: { $0.value.arrival < $1.value.arrival })
            else { return }
            forget(left.key)
        }
        arrivals += 1
        places[service] = Place(arrival: arrivals)
    }

    private mutating func forget(_ service: AvahiService) {
        if places.removeValue(forKey: service) != nil { isChanged = true }
    }

    private mutating func know(_ service: AvahiService, _ knowledge: Knowledge) {
        places[service]?.knowledge = knowledge
        isChanged = true
    }

    private func answer(_ record: AvahiRecord, on service: AvahiService) -> Answer? {
        guard record.port != 0, Self.isPlain(record.target), let ip = IPAddress(record.address),
            IPAddress.zone(in: record.address) == nil,
            !ip.isUnspecified, !ip.isMulticast
        else { return nil }
        let texts = HomeRecord(record.texts)
        return Answer(
            address: ip, port: record.port, target: record.target, tag: texts.tag,
            hostID: texts.tag.flatMap { host(ofTag: $0) }, isTLS: texts.door != .plain)
    }

    /// Avahi writes a domain without spaces.
    private static func isPlain(_ domain: String) -> Bool {
        (1...longestDomain).contains(domain.utf8.count) && domain.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// 02 §11.
    private func host(ofTag tag: String) -> String? {
        hosts.first { host in
            RecognitionTag.names(tag) { Digest.hmacSHA256(key: host.recognitionKey, message: $0) }
        }?.id
    }

    // MARK: What follows

    /// The services to be looked up, and kept looked up: saved hosts, what nobody looked at yet, and the others while
    /// there is room. Anybody can say a saved host's tag again: only so many are looked up because of theirs.
    var wanted: [AvahiService] {
        let sorted = places.sorted { $0.value.arrival < $1.value.arrival }
        guard sorted.count > Self.mostLookUps else { return sorted.map(\.key) }
        var (saved, waiting, others): ([AvahiService], [AvahiService], [AvahiService]) = ([], [], [])
        for (service, place) in sorted {
            if place.isWaiting {
                waiting.append(service)
            } else if place.hostID != nil, saved.count < RowBook.limit {
                saved.append(service)
            } else {
                others.append(service)
            }
        }
        return Array((saved + waiting + others).prefix(Self.mostLookUps))
    }

    /// The interfaces of which nothing is known yet.
    var unknownLinks: Set<UInt32> { Set(places.keys.map(\.interface)).subtracting(links.keys) }

    /// Whether whoever answers has most likely been heard and looked at.
    var isComplete: Bool { isAllForNow && !places.values.contains(where: \.isWaiting) }

    /// What is listed now, when it is another listing than the last one taken.
    mutating func takeRows() -> [BrowsedRow]? {
        // Making them is dear, and a crowd of services comes one by one.
        guard isChanged else { return nil }
        isChanged = false
        let rows = rows
        guard rows != takenRows else { return nil }
        takenRows = rows
        return rows
    }

    /// What is listed, in display order: saved hosts in their order, of one host who came first; then others by name.
    var rows: [BrowsedRow] {
        var members: [String: [Member]] = [:]
        for (service, place) in places {
            guard case .found(let answer) = place.knowledge, isDialable(answer.address, on: service.interface)
            else { continue }
            members[Self.id(service, answer), default: []].append(
                Member(service: service, answer: answer, arrival: place.arrival))
        }
        let order = Dictionary(hosts.enumerated().map { ($1.id, $0) }, uniquingKeysWith: min)
        var counts: [Int: Int] = [:]
        let found = members.map { id, members in
            (row: row(id, members), arrival: members.map(\.arrival).min() ?? 0)
        }.sorted { $0.arrival < $1.arrival }.map { row, arrival in
            let host = row.row.hostID.flatMap { order[$0] } ?? .max
            defer { counts[host, default: 0] += 1 }
            return (
                row: row, arrival: arrival, host: host, nth: host == .max ? Int.max : counts[host, default: 0]
            )
        }
        // Rows that only say a saved host's tag again take no other saved host's place.
        let kept = found.sorted { ($0.nth, $0.arrival) < ($1.nth, $1.arrival) }.prefix(RowBook.limit)
        return kept.sorted { a, b in
            if a.host != b.host { return a.host < b.host }
            if a.host != .max { return a.arrival < b.arrival }
            return (a.row.row.name, a.row.row.id) < (b.row.row.name, b.row.row.id)
        }.map(\.row)
    }

    /// This machine itself is nowhere on a network.
    private func isDialable(_ ip: IPAddress, on interface: UInt32) -> Bool {
        !ip.isLoopback || link(interface).isLoopback
    }

    private func link(_ index: UInt32) -> Link { links[index] ?? Link(name: "\(index)") }

    private func row(_ id: String, _ members: [Member]) -> BrowsedRow {
        let wired = members.map(\.service.interface).filter { link($0).isWired }.min()
        let ranked = members.map { member in
            let at = member.service.interface
            let (link, ip) = (link(at), member.answer.address)
            let endpoint = Endpoint(ip, port: member.answer.port, on: (link.name, at))
            let linkRank = at == wired ? 0 : link.isPeerToPeer ? 3 : link.isWired ? 1 : 2
            // What is link-local needs the right interface, what is routed does not.
            let addressRank = ip.isLinkLocal ? (ip.family == .v4 ? 3 : 2) : ip.family == .v4 ? 0 : 1
            return (rank: (linkRank, addressRank, endpoint.description), endpoint)
        }
        var endpoints: [Endpoint] = []
        for (_, endpoint) in ranked.sorted(by: { $0.rank < $1.rank }) where !endpoints.contains(endpoint) {
            endpoints.append(endpoint)
        }
        let first = members.min { $0.service.interface < $1.service.interface }
        return BrowsedRow(
            row: ListedRow(
                id: id, name: first?.service.name ?? "", hostID: first?.answer.hostID,
                hasTag: first?.answer.tag != nil,
                isPeerToPeer: members.allSatisfy { link($0.service.interface).isPeerToPeer },
                isTLS: members.allSatisfy(\.answer.isTLS), wiredInterface: wired.map { link($0).name }),
            endpoints: endpoints)
    }

    /// Neither machine nor domain has a space, and a tag that has one is none.
    private static func id(_ service: AvahiService, _ answer: Answer) -> String {
        let tag = answer.tag.map { Base64URL.decode($0) == nil ? "?" : $0 } ?? "-"
        return "\(answer.target):\(answer.port) \(tag) \(service.type).\(service.domain) \(service.name)"
    }
}
