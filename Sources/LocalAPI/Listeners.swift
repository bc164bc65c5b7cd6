// The server's listeners: making them and accepting from them. SPDX-License-Identifier: Apache-2.0

internal import CMicroHTTPD
internal import Glibc
internal import Sockets

/// The listening sockets, on the server's thread; closed when it ends.
final class Listeners {
    private struct Held: ~Copyable {
        let socket: Socket
        let isUnix: Bool
    }

    private let held: [HeldBox]
    /// Given back when descriptors have run out, to accept the connection that waits and close it: otherwise the
    /// listener would stay readable and the loop would spin.
    private var spare: Socket?

    private final class HeldBox {
        let held: Held
        init(_ held: consuming Held) { self.held = held }
    }

    /// Takes the descriptors over.
    init(_ descriptors: [Int32]) {
        held = descriptors.map { descriptor in
            let socket = Socket(adopting: descriptor)
            let isUnix = socket.localAddress() == nil
            return HeldBox(Held(socket: socket, isUnix: isUnix))
        }
        spare = Self.makeSpare()
    }

    /// Accepts what waits at one listener, some at once so that the others have a turn.
    func accept(_ index: Int, _ take: (consuming Socket, _ isUnix: Bool) -> Void) {
        for _ in 0..<ServerLimits.acceptedAtOnce {
            do {
                if held[index].held.isUnix {
                    guard let socket = try acceptUnix(on: held[index].held.socket) else { return }
                    take(socket, true)
                } else {
                    guard let accepted = try Sockets.accept(on: held[index].held.socket) else { return }
                    let socket = accepted.intoSocket()
                    take(socket, false)
                }
            } catch {
                shed(index)
                return
            }
        }
    }

    private func shed(_ index: Int) {
        guard spare != nil else {
            spare = Self.makeSpare()
            return
        }
        spare = nil
        _ = try? acceptUnix(on: held[index].held.socket)
        spare = Self.makeSpare()
    }

    private static func makeSpare() -> Socket? {
        let descriptor = dup(STDERR_FILENO)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return Socket(adopting: descriptor)
    }
}

/// Waits for several descriptors to become readable.
final class Poller {
    private var entries: [pollfd]

    init(_ descriptors: [Int32]) {
        entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }

    /// Waits; -1 milliseconds: without end. An interruption counts as a wake-up.
    func wait(milliseconds: Int32) {
        if unsafe poll(&entries, nfds_t(entries.count), milliseconds) < 0 {
            for index in entries.indices { entries[index].revents = 0 }
        }
    }

    /// Whether the n-th was readable, or broken, at the last wait.
    func isReadable(_ index: Int) -> Bool { entries[index].revents != 0 }
}

/// Makes a file belong to a group. Throws when this process is neither root nor in that group.
func giveToGroup(_ path: String, _ group: UInt32) throws(SocketError) {
    let sameOwner = uid_t.max
    guard unsafe chown(path, sameOwner, group) == 0 else {
        throw SocketError(errno: errno, call: "chown to group \(group) \(path)")
    }
}

/// The supplementary groups of the process at the other end of a Unix socket; empty when the kernel does not say.
func peerGroups(_ descriptor: Int32) -> [UInt32] {
    var groups = [gid_t](repeating: 0, count: 256)
    var length = socklen_t(groups.count * MemoryLayout<gid_t>.size)
    guard unsafe shim_peer_groups(descriptor, &groups, &length) == 0 else { return [] }
    return Array(groups.prefix(Int(length) / MemoryLayout<gid_t>.size))
}
