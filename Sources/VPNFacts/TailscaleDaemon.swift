// SPDX-License-Identifier: Apache-2.0

internal import HTTPFetch
internal import Policy
internal import Sockets
internal import Wire

/// tailscaled's LocalAPI on its Unix socket. Every question has an end, whatever is at the other end.
struct TailscaleDaemon: Sendable {
    /// How a reading ended.
    enum State: Sendable, Equatable {
        /// No socket.
        case absent
        /// A socket that nobody listens at.
        case down
        case answered
        case silent
        case unreadable
    }

    /// What came of asking; a daemon can answer one question and not the next.
    struct Reading: Sendable, Equatable {
        var state: State
        var evidence: TailscaleEvidence?
    }

    /// What `whois` says of an address and port.
    enum Peer: Sendable, Equatable {
        case peer
        case notPeer
        /// No answer, or none that can be read.
        case unknown
    }

    let sockets: [String]

    /// The documented name for callers on the machine; the daemon refuses others.
    static let host = "local-tailscaled.sock"

    /// The first socket that is there; costs a look at the directory, no more.
    var socket: String? { sockets.first { fileFacts($0)?.isSocket == true } }

    func read(until deadline: MonotonicTime) -> Reading {
        guard let socket else { return Reading(state: .absent) }
        let status: (found: TailscaleEvidence, usesExitNode: Bool)
        switch ask("/localapi/v0/status?peers=false", at: socket, until: deadline, TailscaleAnswers.status) {
        case .success(let found): status = found
        case .failure(let problem): return Reading(state: problem.state)
        }
        let whole = ask("/localapi/v0/prefs", at: socket, until: deadline) { body throws(JSONError) in
            try TailscaleAnswers.preferences(body, status.found, usesExitNode: status.usesExitNode)
        }
        switch whole {
        case .success(let found): return Reading(state: .answered, evidence: found)
        case .failure(let problem): return Reading(state: problem.state, evidence: status.found)
        }
    }

    /// Whether the daemon runs in user space; nil when it does not say.
    func isUserspace(until deadline: MonotonicTime) -> Bool? {
        guard let socket else { return false }
        switch ask("/localapi/v0/status?peers=false", at: socket, until: deadline, TailscaleAnswers.status) {
        case .success(let status): return !status.found.hasTUN
        // Nobody is there who could deliver anything.
        case .failure(let problem): return problem.state == .down ? false : nil
        }
    }

    /// Whether a connection of the loopback comes from a peer of the tailnet (03 §3.4).
    func whois(_ source: SocketAddress, until deadline: MonotonicTime) -> Peer {
        guard let socket else { return .notPeer }
        let answer = ask("/localapi/v0/whois?addr=\(Self.query(source))", at: socket, until: deadline) {
            body throws(JSONError) in
            _ = try JSON.parse(body).requiredObject("Node")
        }
        switch answer {
        case .success: return .peer
        case .failure(.status(404)): return .notPeer
        case .failure(let problem): return problem.state == .down ? .notPeer : .unknown
        }
    }

    /// An IPv6 one has brackets, which a query need not escape, but a strict reader may want to.
    static func query(_ source: SocketAddress) -> String {
        let ip = source.ip.unscoped
        let port = "%3A\(source.port)"
        guard ip.family == .v6 else { return ip.description + port }
        return "%5B"
            + ip.description.split(separator: ":", omittingEmptySubsequences: false)
            .joined(separator: "%3A") + "%5D" + port
    }

    /// Why there is no answer that can be read.
    private enum Problem: Error {
        case fetch(HTTPFetch.Failure)
        case status(Int)
        case garbage

        var state: State {
            switch self {
            case .fetch(.notAllowed), .status(401), .status(403): .unreadable
            // ENOENT, ECONNREFUSED: it went, or left its socket behind. A full queue is a daemon that hangs.
            case .fetch(.notReached(errno: 2)), .fetch(.notReached(errno: 111)): .down
            case .fetch, .status, .garbage: .silent
            }
        }
    }

    private func ask<Found>(
        _ target: String, at socket: String, until deadline: MonotonicTime,
        _ read: ([UInt8]) throws(JSONError) -> Found
    ) -> Result<Found, Problem> {
        let answer: HTTPFetch.Answer
        do throws(HTTPFetch.Failure) {
            answer = try HTTPFetch.ask(
                HTTPFetch.Request(target, host: Self.host), at: .unix(path: socket), until: deadline)
        } catch {
            return .failure(.fetch(error))
        }
        guard answer.status == 200 else { return .failure(.status(answer.status)) }
        do throws(JSONError) { return .success(try read(answer.body)) } catch { return .failure(.garbage) }
    }
}
