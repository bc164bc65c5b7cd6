// SPDX-License-Identifier: Apache-2.0

/// Reads a command line. Pure: words in, an invocation or a usage failure out.
package enum CommandLineParser {
    /// Reads the words after the program's name; throws what is wrong with them, as exit code 2.
    package static func parse(_ words: [String]) throws(Failure) -> Invocation {
        var found = Words()
        try found.read(words)
        let options = try globalOptions(found)
        guard let info = found.command else {
            if found.has("--version") { return Invocation(.version, options) }
            if found.has("--help") || words.isEmpty { return Invocation(.help(topic: nil), options) }
            throw usage("no command is named", in: nil)
        }
        if found.has("--help") { return Invocation(.help(topic: info.name), options) }
        return Invocation(try command(info, found), options)
    }

    /// The words sorted into options and operands.
    private struct Words {
        var command: CommandInfo?
        var operands: [String] = []
        var options: [(name: String, value: String?)] = []

        func has(_ name: String) -> Bool { options.contains { $0.name == name } }

        func value(_ name: String) -> String? { options.last { $0.name == name }?.value }

        mutating func read(_ words: [String]) throws(Failure) {
            var rest = words[...]
            var onlyOperands = false
            while let word = rest.popFirst() {
                if !onlyOperands, word == "--" {
                    onlyOperands = true
                } else if !onlyOperands, word.hasPrefix("-"), word != "-" {
                    try readOption(word, &rest)
                } else if command == nil {
                    guard let info = CommandTable.command(word) else { throw unknown(command: word) }
                    command = info
                } else {
                    operands.append(word)
                }
            }
        }

        private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
            var name = word
            var value: String?
            if word.hasPrefix("--"), let equals = word.firstIndex(of: "=") {
                name = String(word[..<equals])
                value = String(word[word.index(after: equals)...])
            }
            if name == "-h" { name = "--help" }
            if name == "-V" { name = "--version" }
            if name == "--help" || name == "--version" {
                options.append((name, nil))
                return
            }
            let known = CommandTable.global + (command?.options ?? [])
            guard let info = known.first(where: { $0.name == name }) else {
                throw unknown(option: name, of: command, known: known.map(\.name))
            }
            if let shown = info.value {
                guard let given = value ?? rest.popFirst() else {
                    throw usage("\(name) needs a value: \(name) \(shown)", in: command)
                }
                options.append((name, given))
            } else {
                if value != nil { throw usage("\(name) takes no value", in: command) }
                options.append((name, nil))
            }
        }
    }

    private static func globalOptions(_ found: Words) throws(Failure) -> GlobalOptions {
        var options = GlobalOptions()
        options.json = found.has("--json")
        options.noColor = found.has("--no-color")
        options.socket = found.value("--socket")
        options.api = found.value("--api")
        options.tokenFile = found.value("--token-file")
        options.stateDirectory = found.value("--state-dir")
        if options.socket != nil, options.api != nil {
            throw usage("--socket and --api name two different ways; give one", in: found.command)
        }
        if options.tokenFile != nil, options.api == nil {
            throw usage("--token-file belongs to --api", in: found.command)
        }
        if options.api != nil, options.tokenFile == nil {
            throw usage("--api needs --token-file FILE", in: found.command)
        }
        return options
    }

    private static func command(_ info: CommandInfo, _ found: Words) throws(Failure) -> Command {
        let operands = found.operands
        switch info.name {
        case "show": return .show(device: try exactly(1, operands, info)[0])
        case "rename":
            let words = try exactly(2, operands, info)
            return .rename(device: words[0], name: words[1])
        case "remove":
            if operands.isEmpty { throw usage("no DEVICE is named", in: info) }
            return .remove(devices: operands, confirmed: found.has("--yes"))
        case "pair":
            _ = try exactly(0, operands, info)
            return .pair(try pairOptions(info, found))
        case "disconnect":
            return .disconnect(session: try exactly(1, operands, info)[0], message: found.value("--message"))
        case "backup":
            return .backup(
                file: try exactly(1, operands, info)[0], passphraseFile: found.value("--passphrase-file"),
                replaces: found.has("--force"))
        case "restore":
            return .restore(
                file: try exactly(1, operands, info)[0], passphraseFile: found.value("--passphrase-file"),
                restoresRemoved: found.has("--restore-removed"))
        case "set": return .set(try changes(operands, info))
        case "completion":
            guard let shell = Shell(rawValue: try exactly(1, operands, info)[0]) else {
                throw usage("there are completions for bash, zsh and fish", in: info)
            }
            return .completion(shell)
        case "help":
            if operands.count > 1 { throw usage("help explains one command at a time", in: info) }
            guard let topic = operands.first else { return .help(topic: nil) }
            guard let about = CommandTable.command(topic) else { throw unknown(command: topic) }
            return .help(topic: about.name)
        case "identity":
            if operands.count > 1 { throw usage("too many words: \(operands[1])", in: info) }
            let verb = operands.first ?? "show"
            guard let known = IdentityVerb(rawValue: verb) else {
                throw unknown(
                    "identity does not know \"\(verb)\"", verb, in: IdentityVerb.allCases.map(\.rawValue),
                    info)
            }
            switch known {
            case .rotate: return .identityRotate(confirmed: found.has("--yes"))
            case .show:
                if found.has("--yes") { throw usage("--yes belongs to identity rotate", in: info) }
                return .identityShow
            }
        default:
            _ = try exactly(0, operands, info)
            return try plain(info, found)
        }
    }

    /// The commands without operands.
    private static func plain(_ info: CommandInfo, _ found: Words) throws(Failure) -> Command {
        if found.has("--watch"), found.has("--check") {
            throw usage("--watch goes on until Ctrl-C, so that --check would never tell", in: info)
        }
        return switch info.name {
        case "status": .status
        case "list": .list
        case "sessions": .sessions
        case "quality": .quality
        case "settings": .settings
        case "version": .version
        case "print-cable": .printCable
        case "reachability":
            .reachability(
                refresh: found.has("--refresh"), watches: found.has("--watch"), checks: found.has("--check"))
        case "print-reachability": .printReachability(checks: found.has("--check"))
        case "map-port": .mapPort
        case "unmap-port": .unmapPort
        case "events":
            .events(follow: found.has("--follow"), since: try number("--since", 0...Int64.max, info, found))
        case "audit": .audit(limit: try number("--limit", 1...1_000_000, info, found).map { Int($0) })
        case "unlock": .unlock(source: found.value("--source"), device: found.value("--device"))
        default: throw unknown(command: info.name)
        }
    }

    private static func pairOptions(_ info: CommandInfo, _ found: Words) throws(Failure) -> PairOptions {
        if found.has("--attach"),
            let other = ["--lifetime", "--home-only", "--replace"].first(where: found.has)
        {
            throw usage("--attach opens no window, so it cannot be used with \(other)", in: info)
        }
        return PairOptions(
            // The service knows the range; this only keeps out what is no span at all.
            lifetime: try number("--lifetime", 1...1_000_000, info, found).map { Int($0) },
            homeOnly: found.has("--home-only"), replace: found.has("--replace"),
            noWait: found.has("--no-wait"), attach: found.has("--attach"), draw: found.has("--draw"),
            svg: found.value("--svg"))
    }

    private static func changes(_ operands: [String], _ info: CommandInfo) throws(Failure) -> [SettingChange]
    {
        if operands.isEmpty { throw usage("no KEY is named", in: info) }
        var changes: [SettingChange] = []
        for index in stride(from: 0, to: operands.count, by: 2) {
            let name = operands[index]
            guard let key = SettingKey.named(name) else {
                throw unknown(
                    "there is no setting \"\(name)\"", name, in: SettingKey.all.map(\.name), info)
            }
            guard index + 1 < operands.count else { throw usage("\(name) has no value", in: info) }
            if changes.contains(where: { $0.path == key.path }) {
                throw usage("\(name) is given twice", in: info)
            }
            changes.append(SettingChange(path: key.path, value: key.value(operands[index + 1])))
        }
        return changes
    }

    private static func exactly(
        _ count: Int, _ operands: [String], _ info: CommandInfo
    ) throws(Failure) -> [String] {
        if operands.count > count { throw usage("too many words: \(operands[count])", in: info) }
        if operands.count < count { throw usage("\(info.name) needs \(info.operands)", in: info) }
        return operands
    }

    private static func number(
        _ name: String, _ range: ClosedRange<Int64>, _ info: CommandInfo, _ found: Words
    ) throws(Failure) -> Int64? {
        guard let text = found.value(name) else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw usage("\(name) takes a number, not \"\(text)\"", in: info)
        }
        return value
    }

    private static func usage(_ message: String, in info: CommandInfo?) -> Failure {
        var advice: [String] = []
        if let info { advice.append("Usage: \(info.usage)") }
        return Failure(.usage, message, advice: advice + [seeHelp(info)])
    }

    private static func unknown(command word: String) -> Failure {
        unknown("there is no command \"\(word)\"", word, in: CommandTable.commands.map(\.name), nil)
    }

    private static func unknown(option: String, of info: CommandInfo?, known: [String]) -> Failure {
        // Before the command only options of all commands are read; one that stands too early is a likely
        // slip.
        if info == nil,
            let owner = CommandTable.commands.first(where: { $0.options.contains { $0.name == option } })
        {
            return Failure(
                .usage, "\(option) comes after its command",
                advice: ["Usage: \(owner.usage)", seeHelp(owner)])
        }
        let place = info.map { "\($0.name) has" } ?? "there is"
        return unknown("\(place) no option \(option)", option, in: known, info)
    }

    private static func unknown(
        _ message: String, _ typed: String, in words: [String], _ info: CommandInfo?
    ) -> Failure {
        let near = Suggestion.nearest(to: typed, in: words).map { ["Did you mean \($0)?"] } ?? []
        return Failure(.usage, message, advice: near + [seeHelp(info)])
    }

    private static func seeHelp(_ info: CommandInfo?) -> String {
        info.map { "See: latchkey help \($0.name)" } ?? "See: latchkey help"
    }
}
