// SPDX-License-Identifier: Apache-2.0

internal import HTTPFetch
internal import Sockets
internal import Wire

/// ZeroTier's local API: which networks the host is in, and how each is doing.
struct ZeroTierDaemon: Sendable {
    /// One network.
    struct Network: Sendable, Equatable {
        var name: String
        var status: String
        /// Its link, also while it is not there.
        var interface: String?
    }

    /// What came of asking.
    enum Reading: Sendable, Equatable {
        /// No token: it is not installed.
        case absent
        /// Nobody listens.
        case down
        case answered([Network])
        case silent
        case unreadable
    }

    let place: SocketAddress
    let tokenFile: String
    let processes: Processes

    private static let most = 32

    func read(until deadline: MonotonicTime) -> Reading {
        // A FIFO or a device in its place would hold its reader.
        guard let facts = fileFacts(tokenFile) else {
            return fileFacts(directory(of: tokenFile)) == nil ? .absent : .unreadable
        }
        guard facts.isRegular else { return .unreadable }
        // The token opens the daemon to whoever has it: only root, or the daemon's own user, is shown it.
        guard let listener = processes.listener(port: place.port) else { return .down }
        guard listener == 0 || listener == facts.uid else { return .unreadable }
        do throws(SocketError) {
            let words = try readFile(tokenFile, limit: 256).split { $0 <= 0x20 }
            guard let token = words.first else { return .unreadable }
            return ask(String(decoding: token, as: UTF8.self), until: deadline)
        } catch {
            return .unreadable
        }
    }

    private func ask(_ token: String, until deadline: MonotonicTime) -> Reading {
        var request = HTTPFetch.Request("/network", host: place.description)
        request.fields = [("X-ZT1-Auth", token)]
        do throws(HTTPFetch.Failure) {
            let answer = try HTTPFetch.ask(request, at: .tcp(place), until: deadline)
            switch answer.status {
            case 200: break
            case 401, 403: return .unreadable
            default: return .silent
            }
            do throws(JSONError) { return .answered(try Self.networks(answer.body)) } catch { return .silent }
        } catch {
            switch error {
            case .notReached: return .down
            case .notAllowed: return .unreadable
            case .silent, .tooLong, .malformed, .unfit: return .silent
            }
        }
    }

    static func networks(_ body: [UInt8]) throws(JSONError) -> [Network] {
        guard case .array(let items) = try JSON.parse(body) else {
            throw JSONError(message: "is not a list of networks")
        }
        var networks: [Network] = []
        for item in items.prefix(most) {
            let link = try item.optionalString("portDeviceName") ?? ""
            networks.append(
                Network(
                    name: Label.clean(try item.optionalString("name") ?? ""),
                    status: Label.clean(try item.requiredString("status")),
                    interface: link.isEmpty ? nil : Label.clean(link)))
        }
        return networks
    }
}
