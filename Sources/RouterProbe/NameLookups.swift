// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Sockets
internal import Synchronization
internal import Wire

/// The system's resolver with a limit: a lookup that hangs is left behind with its thread, which ends when the resolver
/// lets go. Whoever asks for the same name meanwhile waits for that one, so hung lookups never pile up.
final class NameLookups: Sendable {
    /// More names at once have no use here; each may hold a thread.
    private static let limit = 4

    private let running = Mutex<[String: Lookup]>([:])
    private let resolve: @Sendable (String) -> [IPAddress]

    /// `resolve` blocks; empty when the name has no address.
    init(resolve: @escaping @Sendable (String) -> [IPAddress] = NameLookups.system) { self.resolve = resolve }

    /// The addresses of a name, empty when it has none; nil when there was no answer by `deadline` or `stop` was raised.
    func addresses(of name: String, until deadline: MonotonicTime, stop: WakeUp?) -> [IPAddress]? {
        if let literal = IPAddress(name) { return [literal] }
        guard let lookup = lookup(name) else { return nil }
        do throws(SocketError) {
            var waits = [lookup.done.descriptor]
            if let stop { waits.append(stop.descriptor) }
            guard try waitReadable(waits, until: deadline)[0] else { return nil }
        } catch {
            return nil
        }
        return lookup.result.withLock { $0 }
    }

    private func lookup(_ name: String) -> Lookup? {
        running.withLock { running in
            if let found = running[name] { return found }
            guard running.count < Self.limit else { return nil }
            do throws(SocketError) {
                let made = Lookup(done: try WakeUp())
                // Not joined: that is the point of it. The handle's end gives the thread to the system.
                _ = try runThread(name: "resolver") { [self] in
                    let found = resolve(name)
                    made.result.withLock { $0 = found }
                    self.running.withLock { $0[name] = nil }
                    made.done.signal()
                }
                running[name] = made
                return made
            } catch {
                return nil
            }
        }
    }

    private final class Lookup: Sendable {
        let done: WakeUp
        let result = Mutex<[IPAddress]?>(nil)
        init(done: WakeUp) { self.done = done }
    }

    @Sendable private static func system(_ name: String) -> [IPAddress] {
        do throws(ResolveError) { return try Sockets.resolve(name) } catch { return [] }
    }
}
