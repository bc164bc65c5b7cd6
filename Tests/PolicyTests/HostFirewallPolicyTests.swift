// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Policy

@Suite("The host's own packet rules")
struct HostFirewallPolicyTests {
    /// A chain on the input hook with its rules, each the members of its expressions.
    static func set(
        _ rules: String..., family: String = "inet", policy: String = "accept", more: String = ""
    ) -> String {
        let chain =
            #"{"chain":{"family":"\#(family)","table":"t","name":"in","type":"filter","hook":"input","prio":0,"policy":"\#(policy)"}}"#
        let lines = rules.map { rule($0, family: family) }
        return #"{"nftables":[{"metainfo":{}},"# + ([chain] + lines).joined(separator: ",") + more + "]}"
    }

    static func rule(_ text: String, chain: String = "in", family: String = "inet") -> String {
        #"{"rule":{"family":"\#(family)","table":"t","chain":"\#(chain)","expr":[\#(text)]}}"#
    }

    static func match(_ left: String, _ right: String, _ op: String = "==") -> String {
        #"{"match":{"op":"\#(op)","left":\#(left),"right":\#(right)}}"#
    }

    static func meta(_ key: String) -> String { #"{"meta":{"key":"\#(key)"}}"# }
    static func payload(_ name: String, _ field: String) -> String {
        #"{"payload":{"protocol":"\#(name)","field":"\#(field)"}}"#
    }

    static let dport = payload("tcp", "dport")
    static let accept = #"{"accept":null}"#
    static let drop = #"{"drop":null}"#
    static let state = #"{"ct":{"key":"state"}}"#

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var want: HostFirewall
    }

    /// One rule before a policy of drop: whether it surely, perhaps or never lets the port through.
    static let acceptRows: [(String, String, HostFirewall)] = [
        ("the port", match(dport, "7455"), .passes),
        ("another port", match(dport, "22"), .drops),
        ("a set with it", match(dport, #"{"set":[22,{"range":[7000,8000]}]}"#), .passes),
        ("a set without it", match(dport, #"{"set":[22,{"range":[8000,9000]}]}"#), .drops),
        (
            "an element with more to it", match(dport, #"{"set":[{"elem":{"val":7455,"comment":"x"}}]}"#),
            .passes
        ),
        ("a range", match(dport, #"{"range":[1,65535]}"#), .passes),
        ("not another", match(dport, "22", "!="), .passes),
        ("not it", match(dport, "7455", "!="), .drops),
        ("above", match(dport, "1023", ">"), .passes),
        ("below", match(dport, "1024", "<"), .drops),
        ("at most", match(dport, "7455", "<="), .passes),
        ("at least", match(dport, "7456", ">="), .drops),
        ("any protocol's port", match(payload("th", "dport"), "7455"), .passes),
        ("a port by a name", match(dport, #""latchkey""#), .unclear),
        ("a port that is no number", match(dport, #"{"x":1}"#), .unclear),
        ("UDP", match(payload("udp", "dport"), "7455"), .drops),
        ("not UDP's 53 is UDP still", match(payload("udp", "dport"), "53", "!="), .drops),
        ("TCP", match(meta("l4proto"), #""tcp""#), .passes),
        ("TCP by number", match(meta("l4proto"), "6"), .passes),
        ("ICMP", match(meta("l4proto"), #"{"set":["icmp","ipv6-icmp"]}"#), .drops),
        ("not TCP", match(meta("l4proto"), #""tcp""#, "!="), .drops),
        ("the source port", match(payload("tcp", "sport"), "7455"), .unclear),
        (
            "flags", match(#"{"&":[{"payload":{"protocol":"tcp","field":"flags"}},["syn"]]}"#, #""syn""#),
            .unclear
        ),
        ("a source", match(payload("ip", "saddr"), #""10.0.0.0""#), .unclear),
        ("IPv4 alone", match(meta("nfproto"), #""ipv4""#), .unclear),
        ("both families", match(meta("nfproto"), #"{"set":["ipv4","ipv6"]}"#), .passes),
        ("the machine's own interface", match(meta("iifname"), #""lo""#), .drops),
        ("any other interface", match(meta("iif"), #""lo""#, "!="), .passes),
        ("one interface", match(meta("iifname"), #""tailscale0""#), .unclear),
        ("some interfaces", match(meta("iifname"), #"{"set":["lo","eth0"]}"#), .unclear),
        ("only the machine's own in a set", match(meta("iifname"), #"{"set":["lo"]}"#), .drops),
        ("new", match(state, #""new""#, "in"), .passes),
        ("new or known", match(state, #"["new","established"]"#, "in"), .passes),
        ("known", match(state, #"["established","related"]"#, "in"), .drops),
        ("not new", match(state, #""new""#, "!="), .drops),
        ("a mark", match(meta("mark"), "7"), .unclear),
        ("what nobody knows", #"{"surprise":{}}"#, .unclear),
        ("what nobody knows about another port", match(dport, "22") + #",{"surprise":{}}"#, .drops),
        ("an operator nobody knows", match(dport, "7455", "~"), .unclear),
        ("a limit", #"{"limit":{"rate":10,"per":"second"}}"#, .unclear),
        ("counted and logged", #"{"counter":{"packets":0,"bytes":0}},{"log":{"prefix":"x"}}"#, .passes),
        ("a mark is set", #"{"mangle":{"key":{"meta":{"key":"mark"}},"value":1}}"#, .passes),
        (
            "the packet is changed",
            #"{"mangle":{"key":{"payload":{"protocol":"tcp","field":"dport"}},"value":1}}"#, .unclear
        ),
        ("iptables' comment", #"{"xt":{"type":"match","name":"comment"}}"#, .passes),
        ("iptables' match", #"{"xt":{"type":"match","name":"recent"}}"#, .unclear),
        ("iptables without words", #"{"xt":null}"#, .unclear),
    ]

    @Test(arguments: acceptRows) func accepts(_ name: String, _ expression: String, _ want: HostFirewall) {
        #expect(Self.judge(Self.set(expression + "," + Self.accept, policy: "drop")) == want)
        // The same turned round: what it surely takes is surely dropped.
        let turned: HostFirewall = want == .passes ? .drops : want == .drops ? .passes : .unclear
        #expect(Self.judge(Self.set(expression + "," + Self.drop)) == turned)
        #expect(Self.judge(Self.set(expression + #",{"reject":{"type":"tcp reset"}}"#)) == turned)
    }

    static func judge(_ text: String, hasIPv6: Bool = true) -> HostFirewall {
        HostFirewallPolicy.judge(Array(text.utf8), port: 7455, hasIPv6: hasIPv6)
    }

    static func chain(_ name: String) -> String {
        #",{"chain":{"family":"inet","table":"t","name":"\#(name)"}}"#
    }
    static func base(
        _ name: String, _ hook: String, _ priority: Int, _ policy: String, type: String = "filter"
    ) -> String {
        #",{"chain":{"family":"inet","table":"t","name":"\#(name)","type":"\#(type)","hook":"\#(hook)","prio":\#(priority),"policy":"\#(policy)"}}"#
    }
    static func jump(_ name: String, _ how: String = "jump") -> String {
        #"{"\#(how)":{"target":"\#(name)"}}"#
    }
    static let port = match(dport, "7455")
    static let vmap = #"{"vmap":{"key":{"payload":{"protocol":"tcp","field":"dport"}},"data":"#

    static let rows: [Row] = [
        Row(testDescription: "no rules", text: #"{"nftables":[{"metainfo":{}}]}"#, want: .passes),
        Row(testDescription: "an accepting chain", text: set(), want: .passes),
        Row(testDescription: "a dropping chain", text: set(policy: "drop"), want: .drops),
        Row(testDescription: "IPv4 alone dropped", text: set(family: "ip", policy: "drop"), want: .unclear),
        Row(testDescription: "IPv6 alone dropped", text: set(family: "ip6", policy: "drop"), want: .unclear),
        Row(testDescription: "a bridge's rules", text: set(family: "bridge", policy: "drop"), want: .passes),
        Row(
            testDescription: "a table that sleeps",
            text: set(policy: "drop", more: #",{"table":{"family":"inet","name":"t","flags":"dormant"}}"#),
            want: .passes),
        Row(
            testDescription: "perhaps accepted, then dropped",
            text: set(match(payload("ip", "saddr"), "1") + "," + accept, drop),
            want: .unclear),
        Row(
            testDescription: "perhaps dropped, then dropped",
            text: set(match(meta("mark"), "1") + "," + drop, drop),
            want: .drops),
        Row(testDescription: "the first that fits wins", text: set(port + "," + accept, drop), want: .passes),
        Row(
            testDescription: "a jump that accepts",
            text: set(
                jump("x"), policy: "drop", more: chain("x") + "," + rule(port + "," + accept, chain: "x")),
            want: .passes),
        Row(
            testDescription: "a jump that comes back",
            text: set(jump("x"), accept, policy: "drop", more: chain("x")),
            want: .passes),
        Row(
            testDescription: "a goto does not come back, but to the policy",
            text: set(jump("x", "goto"), accept, policy: "drop", more: chain("x")), want: .drops),
        Row(
            testDescription: "a return", text: set(#"{"return":null}"#, accept, policy: "drop"), want: .drops),
        Row(testDescription: "a jump to nowhere", text: set(jump("gone")), want: .unclear),
        Row(
            testDescription: "a jump in a circle",
            text: set(jump("x"), more: chain("x") + "," + rule(jump("x"), chain: "x")), want: .unclear),
        Row(
            testDescription: "a later chain drops what an earlier one took",
            text: set(accept, more: base("late", "input", 10, "drop")), want: .drops),
        Row(
            testDescription: "an earlier one drops before",
            text: set(port + "," + accept, more: base("early", "input", -10, "drop")), want: .drops),
        Row(
            testDescription: "before it is sent anywhere",
            text: set(accept, more: base("raw", "prerouting", -300, "drop")),
            want: .drops),
        Row(
            testDescription: "on its way out", text: set(accept, more: base("out", "output", 0, "drop")),
            want: .passes),
        Row(
            testDescription: "sent to another port",
            text: set(
                policy: "drop",
                more: base("nat", "prerouting", -100, "accept", type: "nat") + ","
                    + rule(port + #",{"redirect":{"port":22}}"#, chain: "nat")), want: .unclear),
        Row(
            testDescription: "another port sent elsewhere",
            text: set(
                policy: "drop",
                more: base("nat", "prerouting", -100, "accept", type: "nat") + ","
                    + rule(match(dport, "80") + #",{"dnat":{"addr":"10.0.0.1"}}"#, chain: "nat")),
            want: .drops),
        Row(
            testDescription: "a map of verdicts",
            text: set(vmap + #"{"set":[[22,{"drop":null}],[7455,{"accept":null}]]}}}"#, policy: "drop"),
            want: .passes),
        Row(
            testDescription: "a map without the port",
            text: set(vmap + #"{"set":[[22,{"accept":null}]]}}}"#, policy: "drop"), want: .drops),
        Row(
            testDescription: "a named map",
            text: set(
                vmap + #""@m"}}"#,
                more:
                    #",{"map":{"family":"inet","table":"t","name":"m","map":"verdict","elem":[[7455,{"drop":null}]]}}"#
            ),
            want: .drops),
        Row(testDescription: "a map that is not there", text: set(vmap + #""@m"}}"#), want: .unclear),
        Row(
            testDescription: "a state map",
            text: set(
                #"{"vmap":{"key":{"ct":{"key":"state"}},"data":{"set":[["established",{"accept":null}],["invalid",{"drop":null}]]}}}"#,
                policy: "drop"), want: .drops),
        Row(
            testDescription: "a named set",
            text: set(
                match(dport, #""@p""#) + "," + drop,
                more:
                    #",{"set":{"family":"inet","table":"t","name":"p","type":"inet_service","elem":[7455]}}"#),
            want: .drops),
        Row(
            testDescription: "a set whose content comes and goes",
            text: set(
                match(dport, #""@p""#) + "," + drop,
                more: #",{"set":{"family":"inet","table":"t","name":"p","flags":["dynamic"],"elem":[7455]}}"#),
            want: .unclear),
        Row(testDescription: "not JSON", text: "table inet x {}", want: .unclear),
        Row(testDescription: "other JSON", text: "[1]", want: .unclear),
        Row(
            testDescription: "rules that are none", text: #"{"nftables":[5,null,{"rule":7},{"chain":[]}]}"#,
            want: .passes),
        Row(
            testDescription: "a rule without expressions",
            text: set(more: #",{"rule":{"family":"inet","table":"t","chain":"in"}}"#), want: .unclear),
    ]

    @Test(arguments: rows) func ruleSets(_ row: Row) { #expect(Self.judge(row.text) == row.want) }

    @Test("a host without IPv6 is asked about IPv4 alone")
    func families() {
        #expect(Self.judge(Self.set(family: "ip", policy: "drop"), hasIPv6: false) == .drops)
        #expect(Self.judge(Self.set(family: "ip6", policy: "drop"), hasIPv6: false) == .passes)
    }

    @Test("chains that call each other twice at every level end in time")
    func explosion() {
        var more = ""
        for level in 0..<15 {
            more += Self.chain("c\(level)")
            for _ in 0..<8 { more += "," + Self.rule(Self.jump("c\(level + 1)"), chain: "c\(level)") }
        }
        more += Self.chain("c15")
        #expect(Self.judge(Self.set(Self.jump("c0"), more: more)) == .unclear)
    }

    @Test("rules that each look a large set through end in time")
    func largeSets() {
        let elements = (10_000..<20_000).map { "\($0)" }.joined(separator: ",")
        let named =
            #",{"set":{"family":"inet","table":"t","name":"p","type":"inet_service","elem":[\#(elements)]}}"#
        let rule = "," + Self.rule(Self.match(Self.dport, #""@p""#) + "," + Self.drop)
        func judged(_ rules: Int) -> HostFirewall {
            Self.judge(Self.set(more: named + String(repeating: rule, count: rules)))
        }
        #expect(judged(5) == .passes)
        #expect(judged(50) == .unclear)
    }

    @Test("a map with more elements than can be looked through is not understood")
    func largeMap() {
        let elements = (0..<20_000).map { _ in #"[22,{"accept":null}]"# }.joined(separator: ",")
        let rule = ",\(Self.rule(Self.vmap + #"{"set":[\#(elements)]}}}"#))"
        #expect(Self.judge(Self.set(more: rule)) == .passes)
        #expect(Self.judge(Self.set(more: String(repeating: rule, count: 3))) == .unclear)
    }
}
