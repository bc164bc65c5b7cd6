// SPDX-License-Identifier: Apache-2.0

/// Completions for a shell, made from the same table as help.
package enum CompletionScript {
    /// The script for one shell, to be sourced by it.
    package static func text(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    private static let globals = CommandTable.global.map(\.name).joined(separator: " ") + " --help"
    private static let names = CommandTable.commands.map(\.name).joined(separator: " ")

    private static func operandWords(_ command: CommandInfo) -> String {
        switch command.operand {
        case .none, .file: ""
        case .device: "$(_latchkey_ids list name)"
        case .session: "$(_latchkey_ids sessions device)"
        case .setting: SettingKey.all.map(\.name).joined(separator: " ")
        case .command: names
        case .shell: Shell.allCases.map(\.rawValue).joined(separator: " ")
        case .identityVerb: IdentityVerb.allCases.map(\.rawValue).joined(separator: " ")
        }
    }

    /// IDs out of `--json` without a JSON tool: every object of a list begins with its own ID, and the member
    /// after it tells a device from a session.
    private static let idFunction = """
        _latchkey_ids() {
            latchkey "$1" --json 2>/dev/null | tr '{' '\\n' | sed -n 's/^"id":"\\([^"]*\\)","'"$2"'".*/\\1/p'
        }
        """

    private static var bash: String {
        var cases = ""
        for command in CommandTable.commands {
            let pattern = command.alias.map { "\(command.name)|\($0)" } ?? command.name
            let options = command.options.map(\.name).joined(separator: " ")
            // Where none of the words fit, a file's name may.
            let files = command.operand == .file ? "; compopt -o default" : ""
            cases += "        \(pattern)) words=\"\(options) \(operandWords(command))\"\(files) ;;\n"
        }
        return """
            # bash completion for latchkey; source it or put it into /etc/bash_completion.d
            \(idFunction)
            _latchkey() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command="" words="" word skip=0
                case $previous in
                    --socket|--token-file|--svg|--passphrase-file) compopt -o default; COMPREPLY=(); return ;;
                    --state-dir) compopt -o dirnames; COMPREPLY=(); return ;;
                    --api|--lifetime|--message|--since|--limit|--source|--device) COMPREPLY=(); return ;;
                esac
                for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                    if [ "$skip" = 1 ]; then skip=0; continue; fi
                    case $word in
                        --socket|--api|--token-file|--state-dir) skip=1 ;;
                        -*) ;;
                        *) command=$word; break ;;
                    esac
                done
                case $command in
                    "") words="\(names)" ;;
            \(cases)    esac
                COMPREPLY=($(compgen -W "$words \(globals)" -- "$current"))
            }
            complete -F _latchkey latchkey

            """
    }

    private static var zsh: String {
        func quoted(_ text: String) -> String { text.replacing("'", with: "'\\''") }
        var names = ""
        var cases = ""
        for command in CommandTable.commands {
            names += "        '\(command.name):\(quoted(command.summary))'\n"
            let pattern = command.alias.map { "\(command.name)|\($0)" } ?? command.name
            var arguments = command.options.map { option in
                "'\(option.name)[\(quoted(option.summary))]\(option.value.map { ":\($0)" } ?? "")"
                    + (option.value == "FILE" ? ":_files'" : "'")
            }
            if command.operand == .file { arguments.append("'*:file:_files'") }
            let words = operandWords(command)
            if !words.isEmpty { arguments.append("\"*:\(command.operands.lowercased()):(\(words))\"") }
            cases += "        \(pattern)) _arguments $common \(arguments.joined(separator: " ")) ;;\n"
        }
        let common = CommandTable.global.map { option in
            "'\(option.name)[\(quoted(option.summary))]\(option.value.map { ":\($0):_files" } ?? "")'"
        }
        return """
            #compdef latchkey
            \(idFunction)
            _latchkey() {
                local curcontext="$curcontext" state line
                local -a commands common
                typeset -A opt_args
                common=(\(common.joined(separator: " ")) '--help[explain]')
                commands=(
            \(names)    )
                _arguments -C $common '1:command:->command' '*::argument:->argument'
                case $state in
                    command) _describe command commands ;;
                    argument) case $words[1] in
            \(cases)    esac ;;
                esac
            }
            compdef _latchkey latchkey
            # As a file in fpath this whole text is the function, and its first call is the first completion.
            if [ "$funcstack[1]" = "_latchkey" ]; then _latchkey "$@"; fi

            """
    }

    private static var fish: String {
        func quoted(_ text: String) -> String { text.replacing("'", with: "\\'") }
        func rule(_ condition: String, _ option: OptionInfo) -> String {
            "complete -c latchkey \(condition) -l \(option.name.dropFirst(2))\(option.value == nil ? "" : " -r") "
                + "-d '\(quoted(option.summary))'\n"
        }
        var text = """
            # fish completion for latchkey
            function __latchkey_ids
                latchkey $argv[1] --json 2>/dev/null | tr '{' '\\n' | string replace -rf '^"id":"([^"]*)","'$argv[2]'".*' '$1'
            end
            complete -c latchkey -f

            """
        for option in CommandTable.global { text += rule("", option) }
        text += "complete -c latchkey -s h -l help -d 'explain the command'\n"
        for command in CommandTable.commands {
            text +=
                "complete -c latchkey -n __fish_use_subcommand -a \(command.name) -d '\(quoted(command.summary))'\n"
            let seen = "-n '__fish_seen_subcommand_from \(command.name) \(command.alias ?? "")'"
            for option in command.options { text += rule(seen, option) }
            if command.operand == .file { text += "complete -c latchkey \(seen) -F\n" }
            let words = operandWords(command).replacing("$(_latchkey_ids ", with: "(__latchkey_ids ")
            if !words.isEmpty { text += "complete -c latchkey \(seen) -a '\(words)'\n" }
        }
        return text
    }
}
