// SPDX-License-Identifier: Apache-2.0

@testable import LocalAPI
import Testing
import Wire

@Suite("The route table")
struct RouteTableTests {
    private static let table = RouteTable([
        APIRoute(.get, "/v1/a", .host) { _, _ in },
        APIRoute(.post, "/v1/a", .host) { _, _ in },
        APIRoute(.get, "/v1/a/{id}", .host) { _, _ in },
        APIRoute(.get, "/v1/a/fixed", .host) { _, _ in },
        APIRoute(.post, "/v1/a/{id}/b/{other}", .host) { _, _ in },
    ])

    private static func describe(_ match: RouteTable.Match) -> String {
        switch match {
        case .unknown: "unknown"
        case .wrongMethod(let allow): "allow \(allow)"
        case .found(let index, let parameters): "\(index) \(parameters)"
        }
    }

    static let rows: [(String, String, String)] = [
        ("GET", "/v1/a", "0 []"), ("HEAD", "/v1/a", "0 []"), ("POST", "/v1/a", "1 []"),
        ("DELETE", "/v1/a", "allow GET, HEAD, POST"), ("get", "/v1/a", "allow GET, HEAD, POST"),
        ("GET", "/v1/a/x", "2 [\"x\"]"), ("GET", "/v1/a/fixed", "3 []"), ("GET", "/v1/a/", "unknown"),
        ("GET", "/v1/a/%66ixed", "2 [\"fixed\"]"), ("GET", "/v1/a/x%2Fy", "2 [\"x/y\"]"),
        ("POST", "/v1/a/x/b/y", "4 [\"x\", \"y\"]"), ("GET", "/v1/a/x/b/y", "allow POST"),
        ("POST", "/v1/a/x/b/", "unknown"), ("GET", "/v1/a/x/b", "unknown"), ("GET", "", "unknown"),
        ("GET", "/", "unknown"), ("GET", "/v1//a", "unknown"),
    ]

    @Test("finds", arguments: rows)
    func finds(method: String, path: String, want: String) {
        #expect(Self.describe(Self.table.match(method: method, path: path)) == want)
    }
}

@Suite("Percent-encoding")
struct PercentEncodingTests {
    static let rows = [
        ("", ""), ("abc", "abc"), ("%41", "A"), ("%4", "%4"), ("%", "%"), ("%%41", "%A"), ("%4%41", "%4A"),
        ("%zz", "%zz"), ("%c3%a4", "ä"), ("%C3%A4", "ä"), ("%ff", "\u{FFFD}"), ("a%00b", "a\0b"), ("+", "+"),
        ("%2541", "%41"),
    ]

    @Test("decodes", arguments: rows)
    func decodes(_ text: String, _ want: String) {
        #expect(PercentEncoding.decode(text.utf8) == want)
    }
}

@Suite("Hosts and origins")
struct CallerRulesTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    // A span cannot go through `#expect`.
    private static func allowsHost(_ rules: CallerRules, _ text: String) -> Bool {
        let bytes = bytes(text)
        return rules.allowsHost(bytes.span)
    }

    private static func allowsOrigin(_ rules: CallerRules, _ text: String) -> Bool {
        let bytes = bytes(text)
        return rules.allowsOrigin(bytes.span)
    }

    private static func bearer(_ text: String) -> String? {
        let bytes = bytes(text)
        return ASCII.bearer(bytes.span)
    }

    @Test("port 80 needs no port in the name")
    func port80() {
        let rules = CallerRules(port: 80)
        for name in ["localhost", "localhost:80", "[::1]", "127.0.0.1"] {
            #expect(Self.allowsHost(rules, name))
        }
        #expect(!Self.allowsHost(rules, "localhost:81"))
    }

    @Test("without TCP no origin is ours")
    func noPort() {
        let rules = CallerRules(port: nil)
        #expect(!Self.allowsOrigin(rules, "http://127.0.0.1:7456"))
        #expect(!Self.allowsHost(rules, ""))
    }

    static let origins: [(String, Bool)] = [
        ("http://127.0.0.1:7456", true), ("http://LOCALHOST:7456", true), ("http://[::1]:7456", true),
        ("https://127.0.0.1:7456", false), ("http://127.0.0.1", false), ("http://127.0.0.1:74567", false),
        ("null", false), ("", false), ("http://127.0.0.1:7456/", false),
    ]

    @Test("origins", arguments: origins)
    func origin(_ text: String, allowed: Bool) {
        #expect(Self.allowsOrigin(CallerRules(port: 7456), text) == allowed)
    }

    static let tokens: [(String, String?)] = [
        ("Bearer abc", "abc"), ("bearer abc", "abc"), ("Bearer  abc ", "abc"), ("Bearer ", nil),
        ("Bearer", nil),
        ("Basic abc", nil), ("", nil), ("Bearerabc", nil),
    ]

    @Test("bearer tokens", arguments: tokens)
    func bearer(_ value: String, _ token: String?) {
        #expect(Self.bearer(value) == token)
    }

    static let peers: [(UInt32, [UInt32], Bool)] = [
        (0, [], true), (500, [], true), (501, [20], true), (501, [100, 20], true), (501, [100], false),
        (501, [], false),
    ]

    @Test("who may use the socket: root, the own user, the admin group", arguments: peers)
    func socket(user: UInt32, groups: [UInt32], allowed: Bool) {
        #expect(SocketCallers(ownUser: 500, adminGroup: 20).admits(user: user, groups: groups) == allowed)
    }

    @Test("without an admin group its number means nothing")
    func noGroup() {
        #expect(!SocketCallers(ownUser: 500, adminGroup: nil).admits(user: 501, groups: [0, 20]))
    }

    @Test("a stranger on the socket gets 403 for everything")
    func stranger() {
        let gatekeeper = Gatekeeper(
            table: RouteTable([APIRoute(.get, "/healthz", .open) { _, _ in }]), authorize: { _ in .admin })
        let scan = HeaderScan(rules: CallerRules(port: 1))
        for path in ["/healthz", "/nothing"] {
            let verdict = gatekeeper.judge(
                method: "GET", path: path, caller: Caller(.unix(user: 5, role: nil)), headers: scan,
                headerBytes: 10)
            guard case .refuse(let answer) = verdict else {
                Issue.record("let in")
                continue
            }
            #expect(answer.status == 403)
        }
    }

    @Test("a proved token is not judged again, another one is")
    func cachedToken() {
        var asked = 0
        let caller = Caller(.tcp)
        let judge: (String) -> Role? = { token in
            asked += 1
            return token == "good" ? .host : nil
        }
        for _ in 0..<3 { #expect(caller.role(authorization: Self.bytes("Bearer good"), judge) == .host) }
        #expect(asked == 1)
        #expect(caller.role(authorization: Self.bytes("Bearer bad"), judge) == nil)
        #expect(caller.role(authorization: [], judge) == nil)
        #expect(asked == 2)
    }
}

@Suite("Queries")
struct RequestTests {
    private func request(_ query: [(name: String, value: String)]) -> Request {
        Request(role: .admin, actor: "test", query: query)
    }

    @Test("limit is 1 to 1000, and 100 without one")
    func limit() throws {
        #expect(try request([]).limit() == 100)
        #expect(try request([("limit", "1")]).limit() == 1)
        #expect(try request([("limit", "1000")]).limit() == 1000)
        for bad in ["0", "1001", "-1", "x", "", "1.0", "１"] {
            #expect(throws: JSONError.self) { try request([("limit", bad)]).limit() }
        }
    }

    @Test("switches")
    func flag() throws {
        #expect(try !request([]).flag("x"))
        #expect(try request([("x", "true")]).flag("x"))
        #expect(try request([("x", "1")]).flag("x"))
        #expect(try !request([("x", "false")]).flag("x"))
        #expect(throws: JSONError.self) { try request([("x", "yes")]).flag("x") }
    }
}
