import Core
import Testing
import Wire

@testable import Host

@Suite("Options")
struct OptionsTests {
    static let home = ["HOME": "/home/ada"]

    static func parse(_ arguments: [String], _ environment: [String: String] = home, isRoot: Bool = false)
        -> Invocation
    {
        Options.parse(arguments, environment: environment, isRoot: isRoot)
    }

    struct Change: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        let environment: [String: String]
        let change: @Sendable (inout Options) -> Void
        var testDescription: String { (arguments + environment.map { "\($0)=\($1)" }).joined(separator: " ") }

        init(
            _ arguments: [String] = [], _ environment: [String: String] = [:],
            _ change: @escaping @Sendable (inout Options) -> Void
        ) {
            self.arguments = arguments
            self.environment = environment
            self.change = change
        }
    }

    static let changes = [
        Change { _ in },
        Change(["--state-dir", "/s"]) {
            $0.stateDirectory = "/s"; $0.runtimeDirectory = "/s/run"
        },
        Change(["--state-dir=/s", "--runtime-dir=/r"]) {
            $0.stateDirectory = "/s"; $0.runtimeDirectory = "/r"
        },
        Change(["--api-port", "0"]) { $0.apiPort = .number(0) },
        Change(["--api-port", "off"]) { $0.apiPort = .off },
        Change(["--home-port", "off", "--home-listen", "127.0.0.1"]) {
            $0.homePort = .off
            $0.homeListen = IPAddress("127.0.0.1")
        },
        Change(["--remote-port", "0"]) { $0.remotePort = .number(0) },
        Change(["--remote-port", "off"]) { $0.remotePort = .off },
        Change(["--backend", "unix:/b.sock"]) { $0.backend = .unix("/b.sock") },
        Change(["--backend", "tcp:127.0.0.1:9000"]) {
            $0.backend = SocketAddress("127.0.0.1:9000").map { .tcp($0) }
        },
        Change(["--backend", "tcp:localhost:9000"]) {
            $0.backend = SocketAddress("127.0.0.1:9000").map { .tcp($0) }
        },
        Change(["--backend", "tcp:[::1]:9000"]) { $0.backend = SocketAddress("[::1]:9000").map { .tcp($0) } },
        Change(["--name", "  Den \u{202E} PC "]) { $0.name = "Den PC" },
        Change(["--no-advertise"]) { $0.advertises = false },
        Change(["--desktop-user", "ada"]) { $0.desktopUser = "ada" },
        Change([], ["LATCHKEY_DESKTOP_USER": "ada"]) { $0.desktopUser = "ada" },
        Change(["--workers", "3", "--log-format", "json", "--log-level", "debug"]) {
            $0.workers = 3
            $0.logFormat = .json
            $0.logLevel = .debug
        },
        Change([], ["LATCHKEY_WORKERS": "2"]) { $0.workers = 2 },
        Change(["--workers", "5"], ["LATCHKEY_WORKERS": "2"]) { $0.workers = 5 },
        Change([], ["LATCHKEY_METRICS_OPEN": "1"]) { $0.metricsOpen = true },
        Change([], ["LATCHKEY_METRICS_OPEN": "0"]) { _ in },
        Change(["--new-identity"]) { $0.newIdentity = true },
        Change([], ["LATCHKEY_STATE_DIR": "/e"]) {
            $0.stateDirectory = "/e"; $0.runtimeDirectory = "/e/run"
        },
    ]

    @Test("what each option changes", arguments: changes)
    func accepted(_ row: Change) {
        var want = Options(
            stateDirectory: "/home/ada/.local/state/latchkey",
            runtimeDirectory: "/home/ada/.local/state/latchkey/run")
        row.change(&want)
        #expect(Self.parse(row.arguments, Self.home.merging(row.environment) { $1 }) == .run(want))
    }

    static let refused: [(arguments: [String], sentence: String)] = [
        (["--frobnicate"], "unknown option --frobnicate"),
        (["serve"], "unexpected argument 'serve'"),
        (["--state-dir"], "--state-dir needs a value"),
        (["--no-advertise=1"], "--no-advertise takes no value"),
        (["--api-port", "65536"], "--api-port: '65536' is neither off nor 0 to 65535"),
        (["--remote-port", "80"], "--remote-port: '80' is neither off, 0 nor 1024 to 65535"),
        (["--backend", "/b.sock"], "--backend: '/b.sock' is neither unix:PATH nor tcp:HOST:PORT"),
        (
            ["--backend", "tcp:192.0.2.1:9000"],
            "--backend: 'tcp:192.0.2.1:9000' is not tcp:HOST:PORT with a loopback host (sessions leave here decrypted)"
        ),
        (["--workers", "0"], "--workers: '0' is not 1 to 256"),
        (["--home-listen", "here"], "--home-listen: 'here' is no IP address"),
        (["--name", "\u{200B}"], "--name: the name is empty"),
        (["--desktop-user", ""], "--desktop-user: the user's name is empty"),
        (["--desktop-user"], "--desktop-user needs a value"),
        (["--log-level", "loud"], "--log-level: 'loud' is not debug, info, warning or error"),
    ]

    @Test("what is wrong is named", arguments: refused)
    func refusals(_ row: (arguments: [String], sentence: String)) {
        #expect(Self.parse(row.arguments) == .usage(row.sentence))
    }

    @Test("an environment variable's mistake names the variable")
    func environment() {
        #expect(
            Self.parse([], ["LATCHKEY_WORKERS": "x"]) == .usage("LATCHKEY_WORKERS: 'x' is not 1 to 256"))
        #expect(
            Self.parse([], ["LATCHKEY_NO_ADVERTISE": "maybe"])
                == .usage("LATCHKEY_NO_ADVERTISE is 1 or 0, not 'maybe'"))
    }

    static let places: [(isRoot: Bool, environment: [String: String], state: String, runtime: String)] = [
        (true, home, "/var/lib/latchkey", "/run/latchkey"),
        (true, ["XDG_STATE_HOME": "/x", "XDG_RUNTIME_DIR": "/y"], "/var/lib/latchkey", "/run/latchkey"),
        (false, ["XDG_STATE_HOME": "/x", "XDG_RUNTIME_DIR": "/y"], "/x/latchkey", "/y/latchkey"),
        (
            false, ["HOME": "/h", "XDG_STATE_HOME": "relative", "XDG_RUNTIME_DIR": ""],
            "/h/.local/state/latchkey",
            "/h/.local/state/latchkey/run"
        ),
    ]

    @Test("default directories", arguments: places)
    func directories(_ row: (isRoot: Bool, environment: [String: String], state: String, runtime: String)) {
        let want = Options(stateDirectory: row.state, runtimeDirectory: row.runtime)
        #expect(Self.parse([], row.environment, isRoot: row.isRoot) == .run(want))
    }

    @Test("without a home there is no default state directory")
    func homeless() {
        #expect(
            Self.parse([], [:])
                == .usage("there is no HOME to keep the state in; name a directory with --state-dir"))
        #expect(
            Self.parse(["--state-dir", "/s"], [:])
                == .run(Options(stateDirectory: "/s", runtimeDirectory: "/s/run")))
    }

    @Test("help and version win over the rest")
    func help() {
        #expect(Self.parse(["--help"]) == .help)
        #expect(Self.parse(["--workers", "2", "--version"]) == .version)
        for line in Options.help.split(separator: "\n") { #expect(line.count <= 80) }
        #expect(Options.help.contains("--backend unix:PATH|tcp:HOST:PORT"))
    }
}

extension OptionsTests {
    @Test("directories become absolute")
    func absolute() {
        var options = Options(stateDirectory: "s", runtimeDirectory: "/r")
        options.resolve(against: "/w")
        #expect(options == Options(stateDirectory: "/w/s", runtimeDirectory: "/r"))
    }
}
