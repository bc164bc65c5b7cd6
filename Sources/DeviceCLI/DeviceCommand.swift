// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Wire

/// One command line of `latchkey-device`, read and not yet carried out.
package struct DeviceCommand: Equatable, Sendable {
    /// What is to be done.
    package enum Action: Equatable, Sendable {
        case pairLink(String, host: String?)
        case pairCode(String, host: String)
        /// `code`: the digits that the host shows already.
        case ask(host: String, cable: Bool, code: String?)
        /// `host` nil: the only saved host.
        case connect(
            host: String?, place: String?, door: String?, seconds: Double?, isKept: Bool, save: String? = nil)
        case dial(host: String?, place: String?, door: String?)
        case browse(until: BrowseEnd)
        case hosts
        case forget(String)
        case help(String?)
        case version
    }

    /// When `browse` ends.
    package enum BrowseEnd: Equatable, Sendable {
        /// When whoever answers has most likely answered.
        case complete
        /// After so many seconds.
        case seconds(Double)
        /// When a person has had enough.
        case stopped

        /// After which time at the latest; nil: never.
        var limit: Duration? {
            switch self {
            case .complete: .seconds(3)
            case .seconds(let seconds): .seconds(seconds)
            case .stopped: nil
            }
        }
    }

    /// What is to be done.
    package var action: Action
    /// `--dir`; nil: the default place.
    package var directory: String?
    /// `--runtime-dir`: where a host on this machine writes its `endpoints.json`.
    package var runtimeDirectory: String?
    /// `--name`; nil: this machine's name.
    package var name: String?
    /// `--model`: what kind of device this says it is.
    package var model: String?
    /// `--app-version`: what the hello says; for trying a host's minimum.
    package var appVersion: String?
    /// `--json`.
    package var json: Bool
}

/// A command line that makes no sense.
package struct UsageError: Error, Equatable, Sendable {
    /// One sentence.
    package let message: String
    /// The command whose help would explain it; nil when no command was recognised.
    package let command: String?
}

extension DeviceCommand {
    /// Its word, for messages.
    var verb: String { if case .dial = action { "dial" } else { "connect" } }

    /// Every command, in the order help shows them.
    package static let names = [
        "pair", "ask", "connect", "dial", "browse", "hosts", "forget", "help", "version",
    ]

    private static let valued: Set<String> = [
        "--dir", "--runtime-dir", "--name", "--model", "--app-version", "--host", "--code", "--then-code",
        "--door", "--seconds", "--save",
    ]
    private static let flags: Set<String> = ["--cable", "--follow", "--json", "--help", "-h", "--version"]
    /// Options that belong to one command or two; all others are for every command.
    private static let owners: [String: Set<String>] = [
        "--host": ["pair", "ask", "connect", "dial"], "--code": ["pair"], "--cable": ["ask"],
        "--then-code": ["ask"], "--door": ["connect", "dial"], "--seconds": ["connect", "browse"],
        "--follow": ["connect", "browse"], "--save": ["connect"], "--app-version": ["connect", "dial"],
    ]

    /// Reads arguments, the program's name left out. Options may stand before or after the command.
    package init(_ arguments: [String]) throws(UsageError) {
        var options: [String: String] = [:]
        var words: [String] = []
        var index = arguments.startIndex
        var onlyWords = false
        while index < arguments.endIndex {
            let argument = arguments[index]
            index += 1
            guard !onlyWords, argument.hasPrefix("-"), argument != "-" else {
                words.append(argument)
                continue
            }
            if argument == "--" {
                onlyWords = true
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            let command = words.first
            if Self.flags.contains(name), parts.count == 1 {
                options[name] = ""
            } else if Self.valued.contains(name) {
                guard options[name] == nil else {
                    throw UsageError(message: "\(name) is given twice", command: command)
                }
                if parts.count == 2 {
                    options[name] = String(parts[1])
                } else if index < arguments.endIndex {
                    options[name] = arguments[index]
                    index += 1
                } else {
                    throw UsageError(message: "\(name) needs a value", command: command)
                }
            } else {
                throw UsageError(message: "there is no option \(name)", command: command)
            }
        }
        try self.init(words: words, options: options)
    }

    private init(words: [String], options: [String: String]) throws(UsageError) {
        json = options["--json"] != nil
        directory = options["--dir"]
        runtimeDirectory = options["--runtime-dir"]
        name = options["--name"]
        model = options["--model"]
        appVersion = options["--app-version"]
        if options["--version"] != nil {
            action = .version
            return
        }
        guard let command = words.first else {
            if options["--help"] != nil || options["-h"] != nil {
                action = .help(nil)
                return
            }
            throw UsageError(message: "a command is needed", command: nil)
        }
        guard Self.names.contains(command) else {
            throw UsageError(message: "there is no command \(command)", command: nil)
        }
        if options["--help"] != nil || options["-h"] != nil {
            action = .help(command)
            return
        }
        for option in options.keys.sorted() {
            if let owners = Self.owners[option], !owners.contains(command) {
                throw UsageError(message: "\(option) does not belong to \(command)", command: command)
            }
        }
        action = try Self.action(command, Array(words.dropFirst()), options)
    }

    private static func action(
        _ command: String, _ words: [String], _ options: [String: String]
    ) throws(UsageError) -> Action {
        func exactly(_ count: Int, _ what: String) throws(UsageError) {
            if words.count < count { throw UsageError(message: "\(command) needs \(what)", command: command) }
            if words.count > count {
                throw UsageError(message: "\(words[count]) is one word too many", command: command)
            }
        }
        switch command {
        case "pair":
            guard let code = options["--code"] else {
                try exactly(1, "a pairing link, or --code CODE --host HOST:PORT")
                return .pairLink(words[0], host: options["--host"])
            }
            let rest = groups(of: words)
            if rest.count < words.count {
                throw UsageError(message: "give either a link or --code, not both", command: command)
            }
            guard let host = options["--host"] else {
                throw UsageError(
                    message: "--code needs --host HOST:PORT: a code does not say where its host is",
                    command: command)
            }
            return .pairCode(([code] + rest).joined(separator: " "), host: host)
        case "ask":
            let code = options["--then-code"]
            let rest = code == nil ? words.prefix(0) : groups(of: words)
            if rest.count < words.count {
                throw UsageError(message: "\(words[rest.count]) is one word too many", command: command)
            }
            guard let host = options["--host"] else {
                throw UsageError(
                    message: "ask needs --host HOST:PORT, with the port of the home door", command: command)
            }
            return .ask(
                host: host, cable: options["--cable"] != nil,
                code: code.map { ([$0] + rest).joined(separator: " ") })
        case "connect":
            let (host, place) = try target(command, words, options)
            return .connect(
                host: host, place: place, door: options["--door"], seconds: try seconds(options, command),
                isKept: options["--follow"] != nil, save: options["--save"])
        case "dial":
            let (host, place) = try target(command, words, options)
            return .dial(host: host, place: place, door: options["--door"])
        case "browse":
            try exactly(0, "nothing")
            let isFollowing = options["--follow"] != nil
            guard let seconds = try seconds(options, command) else {
                return .browse(until: isFollowing ? .stopped : .complete)
            }
            if isFollowing {
                throw UsageError(message: "--seconds and --follow both say when to end", command: command)
            }
            return .browse(until: .seconds(seconds))
        case "hosts":
            try exactly(0, "nothing")
            return .hosts
        case "forget":
            try exactly(1, "the ID of a saved host")
            return .forget(words[0])
        case "version":
            return .version
        default:
            if words.count > 1 { throw UsageError(message: "\(words[1]) is one word too many", command: nil) }
            if let word = words.first, !Self.names.contains(word) {
                throw UsageError(message: "there is no command \(word)", command: nil)
            }
            return .help(words.first)
        }
    }

    /// A code is shown in groups of four, and often pasted without quotes.
    private static func groups(of words: [String]) -> ArraySlice<String> {
        words.prefix { $0.count == 4 && $0.allSatisfy(\.isNumber) }
    }

    private static func seconds(
        _ options: [String: String], _ command: String
    ) throws(UsageError) -> Double? {
        guard let text = options["--seconds"] else { return nil }
        guard let number = Double(text), number > 0, number.isFinite, number <= 31_536_000 else {
            throw UsageError(message: "--seconds is a number above 0", command: command)
        }
        return number
    }

    /// The saved host, and the place to dial when one is named.
    private static func target(
        _ command: String, _ words: [String], _ options: [String: String]
    ) throws(UsageError) -> (host: String?, place: String?) {
        if words.count > 1 {
            throw UsageError(message: "\(words[1]) is one word too many", command: command)
        }
        if let door = options["--door"], HostDoor(rawValue: door) == nil {
            throw UsageError(message: "--door is home or remote", command: command)
        }
        let place = options["--host"]
        // An ID has neither colon nor dot; an address to dial has one or the other.
        guard let word = words.first,
            word.contains(":") || word.contains(".") || word.lowercased() == "localhost"
        else { return (words.first, place) }
        guard place == nil else {
            throw UsageError(message: "\(word) and --host both say where to connect", command: command)
        }
        return (nil, word)
    }
}
