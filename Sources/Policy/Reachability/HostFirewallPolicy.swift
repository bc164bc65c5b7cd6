// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What the host's own packet rules do with a new TCP connection to a port (09.39), from what `nft -j list ruleset` says.
///
/// Followed are all ways the rules could go: what depends on things that cannot be told (who calls, by which interface), or
/// that is not understood, could go either way. Only what goes one way whatever happens is said to.
package struct HostFirewallPolicy {
    /// `text` is the JSON of the rule set (libnftables-json(5)). `hasIPv6` false: only IPv4 connections can come.
    package static func judge(_ text: [UInt8], port: Int, hasIPv6: Bool = true) -> HostFirewall {
        let json: JSON
        do throws(JSONError) { json = try JSON.parse(text) } catch { return .unclear }
        guard let items = json["nftables"]?.array else { return .unclear }
        let rules = PacketRules(items)
        var results = [rules.result(PacketRules.Packet(port: port, family: .v4))]
        if hasIPv6 { results.append(rules.result(PacketRules.Packet(port: port, family: .v6))) }
        if results.allSatisfy({ $0 == [.drop] }) { return .drops }
        return results.allSatisfy { $0 == [.accept] } ? .passes : .unclear
    }
}

/// A rule set, and where a packet can get in it.
struct PacketRules {
    /// The first packet of a connection from another machine; who sent it and by which interface it came is open.
    struct Packet {
        var port: Int
        var family: IPAddress.Family
    }

    /// Where a packet can be after a chain.
    enum Fate: Hashable {
        case accept
        case drop
        /// It goes on after the rule that led here.
        case returned
    }

    /// Whether a rule is about the packet.
    enum Match {
        case yes
        case no
        case perhaps

        var inverted: Match {
            switch self {
            case .yes: .no
            case .no: .yes
            case .perhaps: .perhaps
            }
        }
    }

    struct ChainKey: Hashable {
        var family: String
        var table: String
        var name: String
    }

    private struct BaseChain {
        var key: ChainKey
        var hook: String
        var priority: Int
        var policy: Fate
        /// It may send the packet elsewhere, and says nothing about whether that is let in.
        var isNAT: Bool
    }

    private var rules: [ChainKey: [[JSON]]] = [:]
    private var bases: [BaseChain] = []
    /// Elements of named sets and maps; nil for those whose content comes and goes.
    private var sets: [ChainKey: [JSON]?] = [:]

    /// As deep as the kernel lets chains call each other.
    private static let depthLimit = 16
    /// Rules, and elements of their sets, looked at for one packet; a rule set that needs more is not understood.
    private static let stepLimit = 100_000

    init(_ items: [JSON]) {
        var dormant: Set<ChainKey> = []
        for item in items {
            if let table = item["table"], let key = Self.key(table, "name", table: "name"),
                Self.words(table["flags"]).contains("dormant")
            {
                dormant.insert(key)
            }
        }
        for item in items { add(item) }
        bases.removeAll { base in
            dormant.contains(ChainKey(family: base.key.family, table: base.key.table, name: base.key.table))
        }
        // Before anything is decided about where it goes, then on its way in; by priority within.
        bases.sort { ($0.hook == "input" ? 1 : 0, $0.priority) < ($1.hook == "input" ? 1 : 0, $1.priority) }
    }

    private mutating func add(_ item: JSON) {
        if let chain = item["chain"], let key = Self.key(chain, "name") {
            if rules[key] == nil { rules[key] = [] }
            guard let hook = chain["hook"]?.string, hook == "input" || hook == "prerouting" else { return }
            bases.append(
                BaseChain(
                    key: key, hook: hook, priority: chain["prio"]?.int ?? 0,
                    policy: chain["policy"]?.string == "drop" ? .drop : .accept,
                    isNAT: chain["type"]?.string == "nat"))
        } else if let rule = item["rule"], let key = Self.key(rule, "chain") {
            // A rule that cannot be read is one that is not understood.
            rules[key, default: []].append(rule["expr"]?.array ?? [.null])
        } else if let set = item["set"] ?? item["map"], let key = Self.key(set, "name") {
            let changes = Self.words(set["flags"]).contains { $0 == "dynamic" || $0 == "timeout" }
            sets[key] = changes ? .some(nil) : .some(set["elem"]?.array ?? [])
        }
    }

    private static func key(_ json: JSON, _ name: String, table: String = "table") -> ChainKey? {
        guard let family = json["family"]?.string, let table = json[table]?.string,
            let name = json[name]?.string
        else { return nil }
        return ChainKey(family: family, table: table, name: name)
    }

    /// One text or a list of them.
    private static func words(_ json: JSON?) -> [String] {
        if let word = json?.string { return [word] }
        return (json?.array ?? []).compactMap(\.string)
    }

    // MARK: Following

    /// Every fate that the packet can have: accept, drop, or both.
    func result(_ packet: Packet) -> Set<Fate> {
        var steps = 0
        var fates: Set<Fate> = [.accept]
        for base in bases where Self.sees(base.key.family, packet) {
            var here = follow(base.key, packet, depth: 0, &steps)
            if here.remove(.returned) != nil { here.insert(base.policy) }
            // Sent to another port, it is another packet.
            if base.isNAT, here != [.accept] { return [.accept, .drop] }
            // What one drops no other sees; what one accepts the next one judges.
            fates.remove(.accept)
            fates.formUnion(here)
            if !fates.contains(.accept) { break }
        }
        return steps > Self.stepLimit ? [.accept, .drop] : fates
    }

    private static func sees(_ family: String, _ packet: Packet) -> Bool {
        switch family {
        case "inet": true
        case "ip": packet.family == .v4
        case "ip6": packet.family == .v6
        default: false
        }
    }

    private func follow(_ chain: ChainKey, _ packet: Packet, depth: Int, _ steps: inout Int) -> Set<Fate> {
        guard depth < Self.depthLimit, let rules = rules[chain] else { return [.accept, .drop, .returned] }
        var fates: Set<Fate> = []
        for rule in rules {
            steps += 1
            guard steps <= Self.stepLimit else { return [.accept, .drop, .returned] }
            var here = follow(rule: rule, in: chain, packet, depth: depth, &steps)
            let goesOn = here.remove(.next) != nil
            fates.formUnion(here.compactMap(\.fate))
            if !goesOn { return fates }
        }
        fates.insert(.returned)
        return fates
    }

    /// Where a packet can be after one rule.
    private enum After: Hashable {
        case fate(Fate)
        case next
        var fate: Fate? { if case .fate(let fate) = self { fate } else { nil } }
    }

    private func follow(
        rule: [JSON], in chain: ChainKey, _ packet: Packet, depth: Int, _ steps: inout Int
    ) -> Set<After> {
        let parts = rule.map { part(of: $0, in: chain, packet, &steps) }
        // One part that is not about the packet, and the rule is not: whatever else is in it.
        if parts.contains(.match(.no)) { return [.next] }
        var after: Set<After> = []
        for part in parts {
            switch part {
            case .match(.yes), .nothing: continue
            case .match(.perhaps), .match(.no): after.insert(.next)
            case .unknown: after.formUnion([.fate(.accept), .fate(.drop), .fate(.returned), .next])
            case .verdicts(let verdicts):
                for verdict in verdicts {
                    after.formUnion(carryOut(verdict, in: chain, packet, depth: depth, &steps))
                }
                if !verdicts.contains(.next) { return after }
            }
        }
        after.insert(.next)
        return after
    }

    private func carryOut(
        _ verdict: Verdict, in chain: ChainKey, _ packet: Packet, depth: Int, _ steps: inout Int
    ) -> Set<After> {
        switch verdict {
        case .accept: return [.fate(.accept)]
        case .drop: return [.fate(.drop)]
        case .return: return [.fate(.returned)]
        case .next: return [.next]
        case .jump(let name), .goto(let name):
            let target = ChainKey(family: chain.family, table: chain.table, name: name)
            let fates = follow(target, packet, depth: depth + 1, &steps)
            return Set(
                fates.map { fate in
                    if case .jump = verdict, fate == .returned { .next } else { .fate(fate) }
                })
        }
    }

    // MARK: Reading one statement

    private enum Part: Equatable {
        case match(Match)
        /// It changes nothing about where the packet goes.
        case nothing
        case verdicts([Verdict])
        /// Not understood: it may be anything.
        case unknown
    }

    private enum Verdict: Equatable {
        case accept
        case drop
        case `return`
        case next
        case jump(String)
        case goto(String)
    }

    private static let harmless: Set = ["counter", "log", "last", "ct helper", "secmark"]
    /// Statements that end the rule for some packets.
    private static let limits: Set = ["limit", "quota", "ct count", "connlimit", "meter", "set", "map"]

    private func part(
        of statement: JSON, in chain: ChainKey, _ packet: Packet, _ steps: inout Int
    ) -> Part {
        // `{"accept": null}`, or the word alone.
        let members = statement.members ?? []
        guard members.count == 1 || statement.string != nil else { return .unknown }
        let word = members.first?.key ?? statement.string ?? ""
        let value = members.first?.value ?? .null
        if let verdict = Self.verdict(word, value) { return .verdicts([verdict]) }
        if Self.harmless.contains(word) { return .nothing }
        if Self.limits.contains(word) { return .match(.perhaps) }
        switch word {
        // A mark; but never the packet itself.
        case "mangle": return value["key"]?["meta"] != nil || value["key"]?["ct"] != nil ? .nothing : .unknown
        case "match": return .match(match(value, in: chain, packet, &steps))
        case "vmap": return vmap(value, in: chain, packet, &steps)
        // A comment of iptables' is a match that always holds.
        case "xt":
            return value["type"]?.string == "match" && value["name"]?.string == "comment"
                ? .nothing : .unknown
        default: return .unknown
        }
    }

    private static func verdict(_ word: String, _ value: JSON) -> Verdict? {
        switch word {
        case "accept": .accept
        case "drop", "reject": .drop
        case "return": .return
        case "continue": .next
        case "jump": value["target"]?.string.map { .jump($0) }
        case "goto": value["target"]?.string.map { .goto($0) }
        default: nil
        }
    }

    private func vmap(
        _ value: JSON, in chain: ChainKey, _ packet: Packet, _ steps: inout Int
    ) -> Part {
        guard let key = value["key"], let data = value["data"],
            let elements = data["set"]?.array ?? data.string.flatMap({ named($0, in: chain) })
        else { return .unknown }
        var verdicts: [Verdict] = []
        for element in elements {
            // Each is a step, also those that need no look; one that jumps to nothing is followed all the same.
            steps += 1
            guard steps <= Self.stepLimit else { return .unknown }
            guard let pair = element.array, pair.count == 2 else { return .unknown }
            let verdict: Verdict? =
                if let word = pair[1].string {
                    Self.verdict(word, .null)
                } else if let member = pair[1].members?.first {
                    Self.verdict(member.key, member.value)
                } else {
                    nil
                }
            guard let verdict else { return .unknown }
            switch compare(key, to: pair[0], in: chain, packet, &steps) {
            case .yes: return .verdicts(verdicts + [verdict])
            case .perhaps: verdicts.append(verdict)
            case .no: continue
            }
        }
        // No element of it: the rule ends.
        return .verdicts(verdicts + [.next])
    }

    /// The elements of a set, nil when they are not known.
    private func named(_ reference: String, in chain: ChainKey) -> [JSON]? {
        guard reference.hasPrefix("@") else { return nil }
        let key = ChainKey(family: chain.family, table: chain.table, name: String(reference.dropFirst()))
        return sets[key].flatMap { $0 }
    }

    private func match(
        _ value: JSON, in chain: ChainKey, _ packet: Packet, _ steps: inout Int
    ) -> Match {
        guard let left = value["left"], let right = value["right"] else { return .perhaps }
        switch value["op"]?.string {
        case "==", "in": return compare(left, to: right, in: chain, packet, &steps)
        case "!=":
            // An expression about another protocol holds for none of its packets.
            let implied = Self.implied(left, packet)
            return implied == .yes
                ? compare(left, to: right, in: chain, packet, &steps).inverted : implied
        case "<": return ordered(left, right, packet) { $0 < $1 }
        case "<=": return ordered(left, right, packet) { $0 <= $1 }
        case ">": return ordered(left, right, packet) { $0 > $1 }
        case ">=": return ordered(left, right, packet) { $0 >= $1 }
        default: return .perhaps
        }
    }

    private func ordered(
        _ left: JSON, _ right: JSON, _ packet: Packet, _ holds: (Int, Int) -> Bool
    ) -> Match {
        let implied = Self.implied(left, packet)
        guard implied == .yes else { return implied }
        guard Self.isPort(left), let number = right.int else { return .perhaps }
        return holds(packet.port, number) ? .yes : .no
    }

    /// Whether an expression is about packets like this one at all.
    private static func implied(_ left: JSON, _ packet: Packet) -> Match {
        guard let payload = left["payload"], let name = payload["protocol"]?.string else { return .yes }
        switch name {
        case "tcp", "th": return .yes
        case "ip": return packet.family == .v4 ? .yes : .no
        case "ip6": return packet.family == .v6 ? .yes : .no
        case "udp", "udplite", "sctp", "dccp", "icmp", "icmpv6", "igmp", "ah", "esp", "comp", "arp":
            return .no
        default: return .perhaps
        }
    }

    private static func isPort(_ left: JSON) -> Bool {
        guard let payload = left["payload"] else { return false }
        let name = payload["protocol"]?.string
        return (name == "tcp" || name == "th") && payload["field"]?.string == "dport"
    }

    /// What is known of the packet under an expression: words it can have in a rule set.
    private enum Known {
        case port(Int)
        case words(Set<String>, number: Int?)
        /// Any interface but the machine's own.
        case interface
    }

    private static func known(_ left: JSON, _ packet: Packet) -> Known? {
        if isPort(left) { return .port(packet.port) }
        let tcp = Known.words(["tcp"], number: 6)
        if let payload = left["payload"] {
            switch (payload["protocol"]?.string, payload["field"]?.string) {
            case ("ip", "protocol"): return tcp
            default: return nil
            }
        }
        if let key = left["meta"]?["key"]?.string {
            switch key {
            case "l4proto": return tcp
            case "nfproto":
                return packet.family == .v4 ? .words(["ipv4"], number: 2) : .words(["ipv6"], number: 10)
            case "protocol":
                return packet.family == .v4 ? .words(["ip"], number: 0x800) : .words(["ip6"], number: 0x86DD)
            case "iif", "iifname": return .interface
            default: return nil
            }
        }
        if left["ct"]?["key"]?.string == "state" { return .words(["new"], number: 8) }
        return nil
    }

    private func compare(
        _ left: JSON, to right: JSON, in chain: ChainKey, _ packet: Packet, _ steps: inout Int
    ) -> Match {
        let implied = Self.implied(left, packet)
        guard implied == .yes else { return implied }
        guard let known = Self.known(left, packet) else { return .perhaps }
        return compare(known, to: right, in: chain, &steps)
    }

    private func compare(
        _ known: Known, to right: JSON, in chain: ChainKey, _ steps: inout Int
    ) -> Match {
        steps += 1
        guard steps <= Self.stepLimit else { return .perhaps }
        if let elements = right["set"]?.array ?? right.array {
            return any(known, of: elements, in: chain, &steps)
        }
        if let text = right.string, text.hasPrefix("@") {
            return named(text, in: chain).map { any(known, of: $0, in: chain, &steps) } ?? .perhaps
        }
        if let element = right["elem"]?["val"] { return compare(known, to: element, in: chain, &steps) }
        switch known {
        case .port(let port):
            if let number = right.int { return number == port ? .yes : .no }
            guard let ends = right["range"]?.array, ends.count == 2, let low = ends[0].int,
                let high = ends[1].int
            else { return .perhaps }
            return (min(low, high)...max(low, high)).contains(port) ? .yes : .no
        case .words(let words, let number):
            if let text = right.string { return words.contains(text) ? .yes : .no }
            if let value = right.int { return value == number ? .yes : .no }
            return .perhaps
        case .interface: return right.string == "lo" ? .no : .perhaps
        }
    }

    private func any(
        _ known: Known, of elements: [JSON], in chain: ChainKey, _ steps: inout Int
    ) -> Match {
        var result = Match.no
        for element in elements {
            guard steps <= Self.stepLimit else { return .perhaps }
            switch compare(known, to: element, in: chain, &steps) {
            case .yes: return .yes
            case .perhaps: result = .perhaps
            case .no: continue
            }
        }
        return result
    }
}
