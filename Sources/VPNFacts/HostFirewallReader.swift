// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Sockets
internal import Wire

/// What was read of the host's own packet rules.
package struct HostFirewallReading: Sendable, Equatable {
    package var state: HostFirewall
    package var source: FactSource

    package init(state: HostFirewall, source: FactSource) {
        self.state = state
        self.source = source
    }
}

/// Reads the host's own packet rules (09.39), which takes privilege: with nft(8), a process of its own, so that nothing
/// of a rule set of any size or shape can stop the service.
package final class HostFirewallReader: Sendable {
    /// For the program.
    package static let limit = Duration.seconds(1)
    /// Of its output.
    package static let outputLimit = 1 << 20

    /// For the program, and as long again for the reading of what it says.
    private static let patience = limit + limit

    private let places: Places
    private let isAllowed: Bool
    private let errand = Errand<(HostFirewall, String)>("firewall")

    package convenience init() { self.init(.system) }

    /// Elsewhere.
    package convenience init(_ places: Places) { self.init(places, isAllowed: Self.isAllowed) }

    /// With another word on whether this process may read them at all.
    init(_ places: Places, isAllowed: Bool) {
        self.places = places
        self.isAllowed = isAllowed
    }

    /// The kernel shows its rules to CAP_NET_ADMIN, which a program gets from root, or as an ambient capability.
    private static var isAllowed: Bool {
        if CurrentProcess.isRoot { return true }
        do throws(SocketError) {
            let text = String(decoding: try readFile("/proc/self/status", limit: 65_536), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("CapAmb:") }
            let bits = line.flatMap { UInt64($0.dropFirst(7).filter(\.isHexDigit), radix: 16) } ?? 0
            return bits >> 12 & 1 == 1
        } catch {
            return false
        }
    }

    /// What the rules do with a new TCP connection to this port from another machine. At most 2 s; a program that not even
    /// the kernel can end is left behind, and no more than two of them.
    package func read(port: Int, _ table: InterfaceTable) -> HostFirewallReading {
        let begun = monotonicNow()
        let late = errand.start { [self] in judge(port: port, table, until: begun + Self.limit) }
        let (state, word) = late?.answer(by: begun + Self.patience) ?? (.unread, "silent")
        let now = monotonicNow()
        return HostFirewallReading(
            state: state,
            source: FactSource(fact: "firewall", source: "nftables", state: word, at: now, took: now - begun))
    }

    private func judge(
        port: Int, _ table: InterfaceTable, until deadline: MonotonicTime
    ) -> (HostFirewall, String) {
        guard isAllowed else { return (.unread, "unreadable") }
        let output: ProgramOutput
        do throws(ProgramFailure) {
            output = try runProgram(
                places.nft, ["-j", "list", "ruleset"], until: deadline, limit: Self.outputLimit)
        } catch {
            switch error {
            case .notStarted: return (.unread, "notAsked")
            case .silent: return (.unread, "silent")
            // There are rules, more than anybody can say something sure about.
            case .tooLong: return (.unclear, "answered")
            }
        }
        guard output.status == 0 else { return (.unread, "unreadable") }
        let hasIPv6 = table.interfaces.contains { interface in
            interface.kind != .loopback && interface.addresses.contains { $0.ip.family == .v6 }
        }
        let state = HostFirewallPolicy.judge(output.output, port: port, hasIPv6: hasIPv6)
        // The kernel's older rules beside these are in no list of nftables'.
        return (state == .passes && hasOlderRules ? .unclear : state, "answered")
    }

    private var hasOlderRules: Bool {
        ["ip_tables_names", "ip6_tables_names"].contains { name in
            do throws(SocketError) {
                let names = try readFile("\(places.processes)/net/\(name)", limit: 4096)
                return String(decoding: names, as: UTF8.self).split(separator: "\n").contains("filter")
            } catch {
                return false
            }
        }
    }
}
