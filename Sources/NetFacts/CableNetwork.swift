// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Sockets
package import Wire

/// What the cable rule asks the kernel beside sysfs, each time afresh. A value of questions, so that a fixture of sysfs
/// comes with a network of its own.
package struct CableNetwork: Sendable {
    /// One interface, as `print-cable` lists them.
    package struct Link: Sendable, Equatable {
        package var index: UInt32
        package var name: String
        /// It has an IPv6 link-local address.
        package var hasLinkLocal: Bool
        /// Neighbours on it that were learned from the link.
        package var neighbours: Int

        package init(index: UInt32, name: String, hasLinkLocal: Bool, neighbours: Int) {
            self.index = index
            self.name = name
            self.hasLinkLocal = hasLinkLocal
            self.neighbours = neighbours
        }
    }

    /// The name of the interface with this index; nil when there is none.
    package var interfaceName: @Sendable (UInt32) -> String?
    /// The machine's own addresses; nil when the kernel does not say.
    package var ownAddresses: @Sendable () -> [IPAddress]?
    /// What the neighbour table has for an address on an interface.
    package var neighbour: @Sendable (_ ip: IPAddress, _ index: UInt32) -> NeighbourReading
    /// Every interface, in the kernel's order; nil when the kernel does not say.
    package var links: @Sendable () -> [Link]?

    package init(
        interfaceName: @escaping @Sendable (UInt32) -> String?,
        ownAddresses: @escaping @Sendable () -> [IPAddress]?,
        neighbour: @escaping @Sendable (_ ip: IPAddress, _ index: UInt32) -> NeighbourReading,
        links: @escaping @Sendable () -> [Link]?
    ) {
        self.interfaceName = interfaceName
        self.ownAddresses = ownAddresses
        self.neighbour = neighbour
        self.links = links
    }
}

extension CableNetwork {
    /// This machine's own.
    package static let kernel = CableNetwork(
        interfaceName: { Sockets.interfaceName($0) },
        ownAddresses: {
            do throws(SocketError) { return try Sockets.ownAddresses() } catch { return nil }
        },
        neighbour: { ip, index in
            do throws(SocketError) {
                var routes = try RouteSocket()
                return try routes.neighbour(ip, on: index).map { .entry($0.entry) } ?? .none
            } catch {
                return .unreadable
            }
        },
        links: {
            do throws(SocketError) {
                var routes = try RouteSocket()
                let linkLocal = Set(
                    try Sockets.ownAddresses().filter { $0.family == .v6 && $0.isLinkLocal }.map(\.scope))
                let neighbours = Dictionary(
                    grouping: try routes.neighbours().filter(\.entry.isReal), by: \.index)
                return try routes.links().map { link in
                    Link(
                        index: link.index, name: link.name, hasLinkLocal: linkLocal.contains(link.index),
                        neighbours: neighbours[link.index]?.count ?? 0)
                }
            } catch {
                return nil
            }
        })
}
