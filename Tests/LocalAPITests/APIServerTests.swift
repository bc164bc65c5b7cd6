// SPDX-License-Identifier: Apache-2.0

import APITypes
import Foundation
import LocalAPI
import Sockets
import Testing
import Wire

@Suite("The server")
struct APIServerTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var method = "GET"
        var target = "/v1/echo"
        var token: String? = "admin-token"
        var headers: [String] = []
        var body: String?
        let status: Int
        var code: String?
    }

    static let rows = [
        Row(testDescription: "admin token", status: 200),
        Row(testDescription: "host token", token: "host-token", status: 200),
        Row(testDescription: "no token", token: nil, status: 401, code: "unauthorized"),
        Row(testDescription: "wrong token", token: "nope", status: 401, code: "unauthorized"),
        Row(
            testDescription: "other scheme", token: nil, headers: ["Authorization: Basic admin-token"],
            status: 401, code: "unauthorized"),
        Row(
            testDescription: "scheme in any case", token: nil, headers: ["authorization: bEaReR admin-token"],
            status: 200),
        Row(testDescription: "open route without token", target: "/healthz", token: nil, status: 200),
        Row(testDescription: "open route with a wrong token", target: "/healthz", token: "x", status: 200),
        Row(
            testDescription: "401 before 405 on an open path", method: "DELETE", target: "/healthz",
            token: nil,
            status: 401, code: "unauthorized"),
        Row(
            testDescription: "401 before 404", target: "/nothing", token: nil, status: 401,
            code: "unauthorized"),
        Row(testDescription: "404", target: "/nothing", status: 404, code: "notFound"),
        Row(testDescription: "404 below a path", target: "/v1/echo/more", status: 404, code: "notFound"),
        Row(testDescription: "404 for an empty ID", target: "/v1/things/", status: 404, code: "notFound"),
        Row(testDescription: "405", method: "PATCH", status: 405, code: "methodNotAllowed"),
        Row(
            testDescription: "405 for what HTTP does not know", method: "BREW", status: 405,
            code: "methodNotAllowed"),
        Row(
            testDescription: "admin's route with the host's token", method: "DELETE", target: "/v1/things/a",
            token: "host-token", status: 403, code: "forbidden"),
        Row(testDescription: "204", method: "DELETE", target: "/v1/things/a", status: 204),
        Row(
            testDescription: "foreign origin", headers: ["Origin: https://evil.example"], status: 403,
            code: "forbiddenOrigin"),
        Row(
            testDescription: "opaque origin", headers: ["Origin: null"], status: 403, code: "forbiddenOrigin"),
        Row(
            testDescription: "foreign referer", headers: ["Referer: https://evil.example/x"], status: 403,
            code: "forbiddenOrigin"),
        Row(
            testDescription: "no JSON", method: "POST", target: "/v1/json", body: "{", status: 400,
            code: "invalidRequest"),
        Row(
            testDescription: "no object", method: "POST", target: "/v1/json", body: "[1]", status: 400,
            code: "invalidRequest"),
        Row(
            testDescription: "missing member", method: "POST", target: "/v1/json", body: "{}", status: 400,
            code: "invalidRequest"),
        Row(
            testDescription: "mistyped member", method: "POST", target: "/v1/json", body: "{\"name\":1}",
            status: 400, code: "invalidRequest"),
        Row(
            testDescription: "no body", method: "POST", target: "/v1/json", status: 400,
            code: "invalidRequest"),
        Row(
            testDescription: "unknown members are ignored", method: "POST", target: "/v1/json",
            body: "{\"x\":[],\"name\":\"n\"}", status: 200),
        Row(testDescription: "a problem of a handler", target: "/v1/problem", status: 418, code: "teapot"),
        Row(testDescription: "an error nobody knows", target: "/v1/fault", status: 500, code: "internal"),
    ]

    @Test("answers", arguments: rows)
    func answers(_ row: Row) throws {
        let server = try TestServer()
        let response = try server.call(
            row.method, row.target, token: row.token, headers: row.headers, body: row.body)
        #expect(response.status == row.status)
        #expect(response.code == row.code)
        if row.code != nil {
            #expect(response["content-type"] == "application/problem+json")
            let problem = try Problem(json: JSON.parse(response.body))
            #expect(problem.status == row.status)
            #expect(!problem.title.isEmpty && !problem.detail.isEmpty)
        }
        #expect(response.headers.allSatisfy { !$0.name.hasPrefix("access-control") })
    }

    @Test("a mistyped member is named")
    func namesField() throws {
        let server = try TestServer()
        let response = try server.call("POST", "/v1/json", body: "{\"name\":7}")
        let problem = try Problem(json: JSON.parse(response.body))
        #expect(problem.field == "name" && problem.detail.contains("name"))
    }

    @Test("401 says how, 405 says what")
    func explains() throws {
        let server = try TestServer()
        #expect(try server.call("GET", "/v1/echo", token: nil)["www-authenticate"] == "Bearer")
        #expect(try server.call("DELETE", "/v1/echo")["allow"] == "GET, HEAD, POST")
    }

    @Test("a fault is logged under the ID its answer gives, and tells nothing more")
    func fault() throws {
        let server = try TestServer()
        let response = try server.call("GET", "/v1/fault")
        let line = try #require(server.log.all.first)
        let id = try #require(line.split(separator: "errorID=").last)
        #expect(response.body.contains(id))
        #expect(!response.body.contains("Fault"))
    }

    static let hosts: [(String, Int)] = [
        ("127.0.0.1:PORT", 200), ("localhost:PORT", 200), ("LOCALHOST:PORT", 200), ("[::1]:PORT", 200),
        ("127.0.0.1", 403), ("localhost", 403), ("127.0.0.1:1", 403), ("evil.example:PORT", 403),
        ("127.0.0.1.evil.example:PORT", 403), ("", 403),
    ]

    @Test("the Host rule holds on every path", arguments: hosts)
    func host(_ host: String, status: Int) throws {
        let server = try TestServer()
        let name = host.replacingOccurrences(of: "PORT", with: "\(server.port)")
        for target in ["/healthz", "/v1/echo", "/nothing"] {
            let response = try server.call("GET", target, host: name)
            #expect(response.status == (status == 403 ? 403 : target == "/nothing" ? 404 : 200))
            if status == 403 { #expect(response.code == "forbiddenHost") }
        }
    }

    @Test("own origins may call")
    func ownOrigin() throws {
        let server = try TestServer()
        for name in ["127.0.0.1", "localhost", "[::1]"] {
            let origin = "http://\(name):\(server.port)"
            #expect(try server.call("GET", "/v1/echo", headers: ["Origin: \(origin)"]).status == 200)
            #expect(try server.call("GET", "/v1/echo", headers: ["Referer: \(origin)/v1/"]).status == 200)
            #expect(try server.call("GET", "/v1/echo", headers: ["Referer: \(origin)0/"]).status == 403)
        }
    }

    @Test("both loopback addresses share one port")
    func bothFamilies() throws {
        let server = try TestServer()
        for address in server.server.tcpAddresses {
            #expect(address.port == server.port)
            let client = try RawClient(port: address.port, over: address.ip.description)
            client.send(server.request("GET", "/v1/echo"))
            #expect(try client.response().status == 200)
        }
    }

    @Test("on the Unix socket the peer's user decides, and no Host does")
    func unixSocket() throws {
        let server = try TestServer()
        let client = try RawClient(path: server.path)
        client.send("GET /v1/echo HTTP/1.1\r\nHost: anything\r\n\r\n")
        let response = try client.response()
        #expect(response.status == 200)
        let json = try JSON.parse(response.body)
        #expect(json["role"]?.string == "admin")
        #expect(json["actor"]?.string == "unix:\(getuid())")
        #expect(
            try FileManager.default.attributesOfItem(atPath: server.path)[.posixPermissions] as? Int == 0o660)
    }

    @Test("the actor of a token is its role")
    func actors() throws {
        let server = try TestServer()
        for (token, actor) in [("admin-token", "token:admin"), ("host-token", "token:host")] {
            let json = try JSON.parse(server.call("GET", "/v1/echo", token: token).body)
            #expect(json["actor"]?.string == actor)
        }
    }

    @Test("paths and queries are decoded after they were split")
    func decoding() throws {
        let server = try TestServer()
        let response = try server.call("GET", "/v1/things/a%2Fb%20%00?q=x%26y+z&r=%2B&s")
        let json = try JSON.parse(response.body)
        #expect(json["parameters"]?.array == [.string("a/b \0")])
        #expect(json["query"]?.array == [.string("q=x&y z"), .string("r=+"), .string("s=")])
    }

    @Test("HEAD answers as GET, without the body")
    func head() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(server.request("HEAD", "/healthz", token: nil))
        let response = try client.response(head: true)
        #expect(response.status == 200 && response["content-length"] == "15")
        client.send(server.request("GET", "/healthz", token: nil))
        #expect(try client.response().body == "{\"status\":\"ok\"}")
    }

    @Test("requests may be pipelined, refused ones with bodies among them")
    func pipelining() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(
            server.request("POST", "/v1/echo", body: "one")
                + server.request("POST", "/nothing", body: "{\"ignored\":true}")
                + server.request("POST", "/v1/echo", token: "bad", body: "x")
                + server.request("POST", "/v1/echo", token: "host-token", body: "two"))
        #expect(try JSON.parse(client.response().body)["body"]?.string == "one")
        #expect(try client.response().status == 404)
        #expect(try client.response().status == 401)
        let last = try JSON.parse(client.response().body)
        #expect(last["body"]?.string == "two" && last["role"]?.string == "host")
    }

    @Test("chunked bodies, in pieces")
    func chunked() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(server.request("POST", "/v1/echo", headers: ["Transfer-Encoding: chunked"]))
        client.send("3\r\nabc\r\n")
        client.send("2;x=y\r\nde\r\n0\r\n\r\n")
        #expect(try JSON.parse(client.response().body)["body"]?.string == "abcde")
    }

    @Test("a body above the limit is 413, and the connection lives on", arguments: [false, true])
    func tooLarge(chunked: Bool) throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        let body = String(repeating: "a", count: 65_537)
        if chunked {
            client.send(server.request("POST", "/v1/echo", headers: ["Transfer-Encoding: chunked"]))
            client.send("10001\r\n\(body)\r\n0\r\n\r\n")
        } else {
            client.send(server.request("POST", "/v1/echo", body: body))
        }
        let response = try client.response()
        #expect(response.status == 413 && response.code == "bodyTooLarge")
        client.send(server.request("POST", "/v1/echo", body: String(repeating: "b", count: 65_536)))
        #expect(try client.response().status == 200)
    }

    @Test("a route may take more")
    func ownLimit() throws {
        let server = try TestServer()
        let most = String(repeating: "a", count: 200_000)
        #expect(try server.call("POST", "/v1/large", body: most).body == "200000")
        #expect(try server.call("POST", "/v1/large", body: most + "a").status == 413)
    }

    @Test("a body without end ends the connection")
    func endless() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(server.request("POST", "/v1/echo", headers: ["Transfer-Encoding: chunked"]))
        let chunk = "10000\r\n" + String(repeating: "a", count: 65_536) + "\r\n"
        var sent = 0
        while client.send(chunk), sent < 100 { sent += 1 }
        #expect(sent < 100)
    }

    @Test("a client that waits for leave is refused before it sends")
    func expectContinue() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        let headers = ["Expect: 100-continue", "Content-Length: 70000"]
        client.send(server.request("POST", "/v1/echo", headers: headers))
        #expect(try client.response().status == 413)
    }

    static let headerSizes = [(1_000, 200), (15_000, 200), (17_000, 431), (100_000, 431)]

    @Test("headers above 16 KiB are 431", arguments: headerSizes)
    func headers(size: Int, status: Int) throws {
        let server = try TestServer()
        let header = "X-Long: " + String(repeating: "a", count: size)
        #expect(try server.call("GET", "/v1/echo", headers: [header]).status == status)
    }

    static let malformed = [
        "\r\n\r\nnonsense\r\n\r\n", "GET\r\n\r\n", "GET /healthz HTTP/9.9\r\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n",
        "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        "POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\u{16}\u{3}\u{1}\u{2}",
    ]

    @Test("what is no HTTP harms nobody", arguments: malformed)
    func noHTTP(_ text: String) throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(text)
        client.finishSending()
        if let response = try? client.response() { #expect((400...599).contains(response.status)) }
        #expect(try server.call("GET", "/healthz").status == 200)
    }

    @Test("the 65th connection of an address is closed, and a place that is free again is given")
    func connectionLimit() throws {
        let server = try TestServer()
        var clients: [RawClient] = []
        for _ in 0..<64 {
            let client = try RawClient(port: server.port)
            client.send(server.request("GET", "/healthz"))
            #expect(try client.response().status == 200)
            clients.append(client)
        }
        let extra = try RawClient(port: server.port)
        #expect(try extra.isClosed())
        // The Unix socket has no address; there the limit over all connections holds.
        let local = try RawClient(path: server.path)
        local.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try local.response().status == 200)
        clients.removeLast()
        var admitted = false
        for _ in 0..<1000 where !admitted {
            let client = try RawClient(port: server.port)
            client.send(server.request("GET", "/healthz"))
            admitted = (try? client.response().status) == 200
        }
        #expect(admitted)
    }

    @Test("the socket belongs to the admin group, whose members could not open it otherwise")
    func adminGroup() throws {
        // Root may give a file to any group, others to their own.
        let group = getuid() == 0 ? 12_345 : getgid()
        let server = try TestServer(callers: SocketCallers(ownUser: getuid(), adminGroup: group))
        let attributes = try FileManager.default.attributesOfItem(atPath: server.path)
        #expect((attributes[.groupOwnerAccountID] as? NSNumber)?.uint32Value == group)
    }

    @Test("a port that is taken, and a socket somebody listens on")
    func taken() throws {
        let server = try TestServer()
        var configuration = APIServer.Configuration(
            callers: SocketCallers(ownUser: getuid(), adminGroup: nil), authorize: { _ in nil }, routes: [])
        configuration.tcpPort = server.port
        #expect { try APIServer(configuration) } throws: { ($0 as? SocketError)?.isAddressInUse == true }
        configuration.tcpPort = nil
        configuration.unixPath = server.path
        #expect { try APIServer(configuration) } throws: { ($0 as? SocketError)?.isAddressInUse == true }
        #expect(try server.call("GET", "/healthz").status == 200)
    }
}
