internal import APITypes
internal import Core
internal import Policy
package import Wire

/// What one run of the service was told on its command line and in its environment; parsed once, before anything opens
/// (spec 08). Twin test: Tests/HostTests/OptionsTests.swift.
package struct Options: Equatable, Sendable {
    /// Where relayed sessions go.
    package enum Backend: Equatable, Sendable {
        /// A Unix socket's path.
        case unix(String)
        /// A loopback address.
        case tcp(SocketAddress)
    }

    /// A port of a listener, or none.
    package enum Port: Equatable, Sendable {
        /// 0 asks the kernel for any free one.
        case number(Int)
        case off

        /// nil: none.
        var number: Int? {
            if case .number(let number) = self { number } else { nil }
        }
    }

    /// How log lines are written.
    package enum LogFormat: String, Sendable, CaseIterable { case text, json, journal }

    /// Database, key and tokens.
    package var stateDirectory: String
    /// Sockets and `endpoints.json`.
    package var runtimeDirectory: String
    /// The API over TCP.
    package var apiPort: Port = .number(7456)
    /// Members of this group are admins on the Unix socket.
    package var adminGroup: String?
    package var homePort: Port = .number(0)
    /// nil listens on all addresses of both families.
    package var homeListen: IPAddress?
    package var remoteListen: IPAddress?
    /// Overrides the setting for this run; `off` leaves the door to a streaming process.
    package var remotePort: Port?
    package var backend: Backend?
    /// Overrides the setting for this run.
    package var name: String?
    package var advertises = true
    /// Whose login session decides whether the host is locked; nil: 03 §13's default.
    package var desktopUser: String?
    /// nil: one per core.
    package var workers: Int?
    /// nil: text on a terminal, the journal's under systemd, else JSON.
    package var logFormat: LogFormat?
    package var logLevel = LogLevel.info
    /// `/metrics` needs no token.
    package var metricsOpen = false
    /// Move the old identity aside and begin anew.
    package var newIdentity = false
}

/// What a command line asks for.
package enum Invocation: Equatable, Sendable {
    case run(Options)
    case help
    case version
    /// Exit 64 with this sentence.
    case usage(String)
}

/// One option: its name, its value's name (nil for a switch), what it does, and how it is taken.
private struct OptionRule: Sendable {
    let name: String
    let value: String?
    let help: String
    /// Returns what is wrong with the value, or nil.
    let apply: @Sendable (inout Options, String) -> String?

    /// `--state-dir` is `LATCHKEY_STATE_DIR`.
    var variable: String { "LATCHKEY_" + name.dropFirst(2).uppercased().replacing("-", with: "_") }
}

extension Options {
    /// Reads the command line; options win over the environment.
    ///
    /// `isRoot` and `environment` decide the default directories.
    package static func parse(_ arguments: [String], environment: [String: String], isRoot: Bool)
        -> Invocation
    {
        var options = Options(
            stateDirectory: ServiceDirectories.state(isRoot: isRoot) { environment[$0] } ?? "",
            runtimeDirectory: ""
        )
        for rule in rules {
            guard let text = environment[rule.variable] else { continue }
            if rule.value == nil {
                guard let on = ["1": true, "true": true, "0": false, "false": false, "": false][text] else {
                    return .usage("\(rule.variable) is 1 or 0, not '\(text)'")
                }
                if on, let problem = rule.apply(&options, "") {
                    return .usage("\(rule.variable): \(problem)")
                }
            } else if let problem = rule.apply(&options, text) {
                return .usage("\(rule.variable): \(problem)")
            }
        }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--help" || argument == "-h" { return .help }
            if argument == "--version" { return .version }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let rule = rules.first(where: { $0.name == name }) else {
                return .usage(
                    name.hasPrefix("-") ? "unknown option \(name)" : "unexpected argument '\(argument)'")
            }
            var value = ""
            if rule.value != nil {
                if parts.count == 2 {
                    value = String(parts[1])
                } else if let next = rest.popFirst() {
                    value = next
                } else {
                    return .usage("\(name) needs a value")
                }
            } else if parts.count == 2 {
                return .usage("\(name) takes no value")
            }
            if let problem = rule.apply(&options, value) { return .usage("\(name): \(problem)") }
        }
        if options.stateDirectory.isEmpty {
            return .usage("there is no HOME to keep the state in; name a directory with --state-dir")
        }
        if options.runtimeDirectory.isEmpty {
            options.runtimeDirectory =
                isRoot
                ? ServiceDirectories.rootRuntime
                : ServiceDirectories.userRuntime { environment[$0] }
                    ?? ServiceDirectories.runtime(in: options.stateDirectory)
        }
        return .run(options)
    }

    /// Makes the directories absolute: what `endpoints.json` names must hold wherever its reader stands.
    package mutating func resolve(against directory: String) {
        if !stateDirectory.hasPrefix("/") { stateDirectory = directory + "/" + stateDirectory }
        if !runtimeDirectory.hasPrefix("/") { runtimeDirectory = directory + "/" + runtimeDirectory }
    }

    /// The text of `--help`.
    package static var help: String {
        var text = """
            Usage: latchkeyd [options]

            The pairing and remote-access identity service of a streaming host. Runs in
            the foreground; manage it with latchkey(1).


            """
        let heads =
            rules.map { rule in rule.value.map { "\(rule.name) \($0)" } ?? rule.name } + [
                "--version", "--help",
            ]
        let helps = rules.map { $0.help } + ["print the version and end", "print this and end"]
        for (head, help) in zip(heads, helps) { text += row(head, help) }
        text += """

            Every option is also an environment variable: --state-dir is
            LATCHKEY_STATE_DIR; a switch is 1 or 0.

            """
        return text
    }

    /// An option and what it does, in 80 columns. What it does begins on the next line where the option is long.
    private static func row(_ head: String, _ help: String) -> String {
        let margin = 24
        var text = ""
        var line = "  " + head
        if line.count + 2 > margin {
            text = line + "\n"
            line = ""
        }
        line += String(repeating: " ", count: margin - line.count)
        for word in help.split(separator: " ") {
            if line.count > margin, line.count + 1 + word.count > 80 {
                text += line + "\n"
                line = String(repeating: " ", count: margin)
            }
            line += (line.count > margin ? " " : "") + word
        }
        return text + line + "\n"
    }

    private static let rules: [OptionRule] = [
        OptionRule(
            name: "--state-dir", value: "DIR",
            help: "database, key, tokens (/var/lib/latchkey, ~/.local/state/latchkey)"
        ) {
            $0.stateDirectory = $1; return $1.isEmpty ? "the directory's name is empty" : nil
        },
        OptionRule(
            name: "--runtime-dir", value: "DIR", help: "sockets and endpoints.json (/run/latchkey as root)"
        ) {
            $0.runtimeDirectory = $1; return $1.isEmpty ? "the directory's name is empty" : nil
        },
        OptionRule(
            name: "--api-port", value: "N|off", help: "the API over loopback TCP (7456); 0 is any free port"
        ) {
            guard let port = port($1) else { return "'\($1)' is neither off nor 0 to 65535" }
            $0.apiPort = port
            return nil
        },
        OptionRule(name: "--admin-group", value: "NAME", help: "a group allowed on the API's Unix socket") {
            $0.adminGroup = $1
            return $1.isEmpty ? "the group's name is empty" : nil
        },
        OptionRule(name: "--home-port", value: "N|off", help: "the home door's port (0, any free one)") {
            guard let port = port($1) else { return "'\($1)' is neither off nor 0 to 65535" }
            $0.homePort = port
            return nil
        },
        OptionRule(name: "--home-listen", value: "ADDR", help: "the home door's address (all)") {
            $0.homeListen = IPAddress($1)
            return $0.homeListen == nil ? "'\($1)' is no IP address" : nil
        },
        OptionRule(name: "--remote-listen", value: "ADDR", help: "the remote door's address (all)") {
            $0.remoteListen = IPAddress($1)
            return $0.remoteListen == nil ? "'\($1)' is no IP address" : nil
        },
        OptionRule(
            name: "--remote-port", value: "N|off",
            help: "the remote door's port for this run (the setting, 7455)"
        ) {
            guard let port = port($1), port.number.map({ SettingRange.isPort($0) }) ?? true else {
                return "'\($1)' is neither off, 0 nor 1024 to 65535"
            }
            $0.remotePort = port
            return nil
        },
        OptionRule(
            name: "--backend", value: "unix:PATH|tcp:HOST:PORT",
            help: "where admitted sessions are relayed to"
        ) {
            $0.backend = backend($1); return $0.backend == nil ? backendProblem($1) : nil
        },
        OptionRule(
            name: "--name", value: "NAME",
            help: "this host's name for this run (the setting, the machine's name)"
        ) {
            let cleaned = Label.clean($1)
            $0.name = cleaned
            return cleaned.isEmpty ? "the name is empty" : nil
        },
        OptionRule(name: "--no-advertise", value: nil, help: "do not advertise the home door on the network")
        {
            options, _ in
            options.advertises = false
            return nil
        },
        OptionRule(
            name: "--desktop-user", value: "NAME",
            help: "whose login session decides whether the host is locked"
        ) {
            $0.desktopUser = $1
            return $1.isEmpty ? "the user's name is empty" : nil
        },
        OptionRule(name: "--workers", value: "N", help: "door threads (one per core)") {
            guard let number = Int($1), (1...256).contains(number) else { return "'\($1)' is not 1 to 256" }
            $0.workers = number
            return nil
        },
        OptionRule(name: "--log-format", value: "text|json|journal", help: "how log lines are written") {
            $0.logFormat = LogFormat(rawValue: $1)
            return $0.logFormat == nil ? "'\($1)' is not text, json or journal" : nil
        },
        OptionRule(name: "--log-level", value: "LEVEL", help: "debug, info, warning or error (info)") {
            guard let level = LogLevel(word: $1) else {
                return "'\($1)' is not debug, info, warning or error"
            }
            $0.logLevel = level
            return nil
        },
        OptionRule(name: "--metrics-open", value: nil, help: "/metrics needs no token") { options, _ in
            options.metricsOpen = true
            return nil
        },
        OptionRule(
            name: "--new-identity", value: nil,
            help: "move the old key and database aside; every device must pair again"
        ) { options, _ in
            options.newIdentity = true
            return nil
        },
    ]

    private static func port(_ text: String) -> Port? {
        if text == "off" { return .off }
        guard let number = Int(text), (0...65535).contains(number) else { return nil }
        return .number(number)
    }

    private static func backend(_ text: String) -> Backend? {
        if let path = text.dropping(prefix: "unix:") {
            return path.isEmpty || path.utf8.count > longestSocketPath ? nil : .unix(path)
        }
        guard let address = text.dropping(prefix: "tcp:") else { return nil }
        let dialled = address.dropping(prefix: "localhost:").map { "127.0.0.1:" + $0 } ?? address
        guard let address = SocketAddress(dialled), address.ip.isLoopback, address.port != 0 else {
            return nil
        }
        return .tcp(address)
    }

    /// What `sun_path` holds, less its final zero (unix(7)).
    private static let longestSocketPath = 107

    private static func backendProblem(_ text: String) -> String {
        if text.utf8.count > "unix:".utf8.count + longestSocketPath, text.hasPrefix("unix:") {
            return "a socket's path has at most \(longestSocketPath) bytes"
        }
        return text.hasPrefix("tcp:")
            ? "'\(text)' is not tcp:HOST:PORT with a loopback host (sessions leave here decrypted)"
            : "'\(text)' is neither unix:PATH nor tcp:HOST:PORT"
    }
}

extension String {
    /// What follows `prefix`, or nil when the text does not begin with it.
    fileprivate func dropping(prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
