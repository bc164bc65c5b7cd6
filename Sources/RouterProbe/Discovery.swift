// SPDX-License-Identifier: Apache-2.0

internal import HTTPFetch
internal import Sockets
internal import Wire

/// A device that proved to be an Internet Gateway Device.
struct FoundIGD: Sendable, Equatable {
    /// Where its description is.
    let origin: WebLocation
    let description: GatewayDescription

    var host: IPAddress { origin.address.ip }
}

/// The search for the gateway's IGD (05 B6 steps 1 to 3), on the calling thread and a few of its own.
struct Discovery: Sendable {
    let gateway: IPAddress?
    let network: Network
    let local: LocalEnd
    let interfaceIndex: UInt32
    let ports: RouterPorts
    /// When it asks, and how long answers are waited for.
    let schedule: TrySchedule
    /// Where the gateway's description was last time; tried beside the search.
    let remembered: WebLocation?

    /// The IGDs in the order they answered; the gateway's, which ends the search, is last and flagged.
    struct Found: Sendable, Equatable {
        var gateway: FoundIGD?
        var others: [FoundIGD] = []
    }

    func find(_ limits: Limits) -> Found {
        var found = Found()
        do throws(SocketError) {
            let fetches = try Fetches(local: local, limits)
            defer { fetches.end() }
            var places = FoundPlaces(gateway: gateway)
            if let remembered, places.add(remembered) { fetches.start(remembered) }
            let socket = try searchSocket()
            try search(socket, fetches, &places, &found, limits)
        } catch {
            // No socket, no search: as if nobody had answered.
        }
        return found
    }

    private func search(
        _ socket: borrowing Socket, _ fetches: Fetches, _ places: inout FoundPlaces, _ found: inout Found,
        _ limits: Limits
    ) throws(SocketError) {
        let begin = monotonicNow()
        let end = min(limits.deadline, begin + schedule.end)
        var dues = schedule.tries.map { begin + $0 }
        // The gateway's places that are still being read; without a gateway, everybody's.
        var pending = places.all.count
        while true {
            let now = monotonicNow()
            if let due = dues.first, now >= due {
                dues.removeFirst()
                ask(socket)
            }
            let isOver = now >= end
            if now >= limits.deadline || isOver && pending == 0 { return }
            let ready = try waitReadable(
                [isOver ? -1 : socket.descriptor, fetches.descriptor, limits.stop.descriptor],
                until: isOver ? limits.deadline : min(end, dues.first ?? end))
            if ready[2] { return }
            if ready[0] {
                for place in try answers(socket) where places.add(place) {
                    if counts(place) { pending += 1 }
                    fetches.start(place)
                }
            }
            if ready[1] {
                for (place, igd) in fetches.take() {
                    if counts(place) { pending -= 1 }
                    guard let igd else { continue }
                    if place.address.ip == gateway {
                        found.gateway = igd
                        return
                    }
                    if !found.others.contains(where: { $0.host == igd.host }) { found.others.append(igd) }
                }
            }
        }
    }

    private func counts(_ place: WebLocation) -> Bool { gateway == nil || place.address.ip == gateway }

    private func searchSocket() throws(SocketError) -> Socket {
        let socket = try Socket.datagram(from: local)
        do throws(SocketError) {
            try socket.sendMulticast(from: local.ip, interfaceIndex: interfaceIndex, hops: 2)
        } catch {
            // The gateway alone can still be asked.
        }
        return socket
    }

    /// One round of questions. One that cannot be sent is one that nobody answers.
    private func ask(_ socket: borrowing Socket) {
        for (index, target) in Search.targets.enumerated() {
            send(socket, Search.request(target, isMulticast: true), to: ports.searchGroup)
            guard let gateway, index == 0 || index == Search.targets.count - 1 else { continue }
            send(
                socket, Search.request(target, isMulticast: false),
                to: SocketAddress(ip: gateway, port: ports.search))
        }
    }

    private func send(_ socket: borrowing Socket, _ bytes: [UInt8], to address: SocketAddress) {
        do throws(SocketError) { try socket.sendDatagram(bytes, to: address) } catch {
            // As if it were lost on the way.
        }
    }

    /// What waits, a few at a time, so that a flood does not keep the search past its end.
    private func answers(_ socket: borrowing Socket) throws(SocketError) -> [WebLocation] {
        var found: [WebLocation] = []
        for _ in 0..<32 {
            guard let datagram = try socket.receiveDatagram(max: Search.answerLimit) else { break }
            if let place = Search.location(in: datagram.bytes, from: datagram.from.ip, onLink: network) {
                found.append(place)
            }
        }
        return found
    }
}

/// Descriptions on their way.
private struct Fetches: Sendable {
    private let local: LocalEnd
    private let deadline: MonotonicTime
    private let patience: Duration
    private let stop: WakeUp
    private let crew: Crew<(WebLocation, FoundIGD?)>

    init(local: LocalEnd, _ limits: Limits) throws(SocketError) {
        self.local = local
        deadline = limits.deadline
        patience = limits.times.question
        stop = try WakeUp()
        crew = try Crew()
    }

    var descriptor: Int32 { crew.descriptor }

    func start(_ place: WebLocation) {
        let (local, deadline, patience, stop) = (local, deadline, patience, stop)
        crew.start("igd description") {
            var request = HTTPFetch.Request(place.target, host: place.host)
            request.fields = [("Accept", "text/xml")]
            do throws(HTTPFetch.Failure) {
                let answer = try HTTPFetch.ask(
                    request, at: .tcp(place.address, from: local),
                    until: min(deadline, monotonicNow() + patience), stop: stop)
                guard answer.status == 200, let read = GatewayDescription(answer.body, from: place) else {
                    return (place, nil)
                }
                return (place, FoundIGD(origin: place, description: read))
            } catch {
                return (place, nil)
            }
        }
    }

    func take() -> [(WebLocation, FoundIGD?)] { crew.take() }

    /// Ends what is still on its way, and waits for it.
    func end() {
        stop.signal()
        crew.join()
    }
}
