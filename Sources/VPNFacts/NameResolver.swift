// SPDX-License-Identifier: Apache-2.0

internal import Sockets
package import Wire

/// Looks names up by the system's resolver, which can take as long as it likes: in threads that are left behind then,
/// no more than two of them.
package final class NameResolver: Sendable {
    /// For each name (05 A6, B10).
    package static let limit = Duration.seconds(2)
    /// Addresses of one name that are kept.
    private static let most = 32

    private let errand = Errand<[IPAddress]?>("resolve")
    private let look: @Sendable (String) -> [IPAddress]?

    package convenience init() {
        self.init { name in
            do throws(ResolveError) { return try resolve(name) } catch {
                return error.isUnknownName ? [] : nil
            }
        }
    }

    /// With another resolver: no addresses for a name that does not exist, nil when that cannot be told.
    init(_ look: @escaping @Sendable (String) -> [IPAddress]?) { self.look = look }

    /// A name's addresses: none when it has none, nil when no resolver answered. At most 2 s.
    package func addresses(of name: String) -> [IPAddress]? {
        addresses(of: name, by: monotonicNow() + Self.limit)
    }

    /// Nil when there was no answer in time.
    func addresses(of name: String, by deadline: MonotonicTime) -> [IPAddress]? {
        start(name).flatMap { $0.answer(by: deadline) }.flatMap { $0 }
    }

    func start(_ name: String) -> Late<[IPAddress]?>? {
        errand.start { [look] in look(name).map { Array($0.prefix(Self.most)) } }
    }
}
