// SPDX-License-Identifier: Apache-2.0

/// Every command there is, in the order help lists them (spec 08, "latchkey").
enum CommandTable {
    /// Options of all commands.
    static let global = [
        OptionInfo("--json", nil, "print the API's own body"),
        OptionInfo("--socket", "PATH", "the service's Unix socket"),
        OptionInfo("--api", "URL", "its TCP address instead, http://127.0.0.1:7456"),
        OptionInfo("--token-file", "FILE", "the file of the admin token, with --api"),
        OptionInfo("--state-dir", "DIR", "the service's state directory"),
        OptionInfo("--no-color", nil, "no colour on a terminal (as NO_COLOR does)"),
    ]

    /// The command of that name or alias.
    static func command(_ name: String) -> CommandInfo? {
        commands.first { $0.name == name || $0.alias == name }
    }

    private static let deviceWords =
        "DEVICE is an ID, the first four or more characters of one, or an exact name that only one device has."
    private static let offlineWords =
        "While the service is down it works on the state directory itself, by the same rules."

    private static let check = OptionInfo(
        "--check", nil, "end with 0 when reachable, 10 when maybe, 11 when not")

    private static let passphraseFile = OptionInfo(
        "--passphrase-file", "FILE", "the first line of this file is the passphrase")

    static let commands: [CommandInfo] = [
        CommandInfo(
            name: "status", summary: "show the host, its doors, the pairing window and sessions",
            examples: [
                ("latchkey status", "one screen"), ("latchkey status --json | jq .doors", "the doors alone"),
            ]),
        CommandInfo(
            name: "list", alias: "devices", summary: "list the paired devices", details: [offlineWords],
            examples: [("latchkey list", "who may connect"), ("latchkey list --json", "for a program")],
            worksOffline: true),
        CommandInfo(
            name: "show", operands: "DEVICE", operand: .device, summary: "show one paired device",
            details: [deviceWords, offlineWords],
            examples: [("latchkey show 7K3Q", "by the start of its ID")], worksOffline: true),
        CommandInfo(
            name: "rename", operands: "DEVICE NAME", operand: .device, summary: "give a device another name",
            details: [deviceWords, offlineWords],
            examples: [("latchkey rename 7K3Q \"Anna's iPad\"", "a name with a blank is quoted")],
            worksOffline: true),
        CommandInfo(
            name: "remove", operands: "DEVICE…", operand: .device,
            summary: "unpair devices and end their sessions",
            options: [OptionInfo("--yes", nil, "do not ask first")],
            details: [
                "Asks first on a terminal; without one, --yes is needed. A removed device must pair again.",
                deviceWords, offlineWords,
            ],
            examples: [
                ("latchkey remove \"Anna's iPad\"", "asks, then removes"),
                ("latchkey remove 7K3Q 9XYZ --yes", "two at once, from a script"),
            ], worksOffline: true),
        CommandInfo(
            name: "pair", summary: "open a pairing window and wait for a device",
            options: [
                OptionInfo("--lifetime", "SECONDS", "how long it stays open, 30 to 600 (300)"),
                OptionInfo("--home-only", nil, "pair on the home door alone"),
                OptionInfo("--replace", nil, "close a window that is open already"),
                OptionInfo("--no-wait", nil, "print the link and code and leave the window open"),
                OptionInfo("--attach", nil, "show the window that is open already, and wait for it"),
                OptionInfo("--draw", nil, "draw the QR code also into a pipe or file"),
                OptionInfo("--svg", "FILE", "write the QR code as a picture (it holds the secret)"),
            ],
            details: [
                "Draws the QR code and the typed code, counts down, and names the device that paired. Ctrl-C "
                    + "cancels the window.",
                "Ends with 0 when a device paired, 1 when the window expired, was stopped by wrong codes or "
                    + "cancelled elsewhere, 130 after Ctrl-C.",
            ],
            examples: [
                ("latchkey pair", "on a terminal: scan the code with the device"),
                ("latchkey pair --home-only --lifetime 60", "a minute, on this network alone"),
                ("latchkey pair --no-wait --svg pair.svg", "for a picture on another screen"),
            ]),
        CommandInfo(
            name: "sessions", summary: "list the running sessions",
            examples: [("latchkey sessions", "who is connected, and how")]),
        CommandInfo(
            name: "disconnect", operands: "SESSION", operand: .session, summary: "end one session now",
            options: [OptionInfo("--message", "TEXT", "what the person at the device is told")],
            details: [
                "SESSION is an ID of latchkey sessions, or the start of one. The device stays paired and does "
                    + "not come back by itself."
            ],
            examples: [("latchkey disconnect 5f2c --message \"Movie night\"", "with a word of why")]),
        CommandInfo(
            name: "quality", summary: "show both qualities, which of them runs and why, and the links",
            details: [
                "The away quality runs while every connected device is away. A link that does not keep up is shown with "
                    + "the quality that it would carry."
            ],
            examples: [
                ("latchkey quality", "one screen"),
                ("latchkey quality --json | jq '.sessions[] | select(.link)'", "the links that fall behind"),
            ]),
        CommandInfo(
            name: "settings", summary: "show the settings in force", details: [offlineWords],
            examples: [("latchkey settings", "under the names that set takes")], worksOffline: true),
        CommandInfo(
            name: "set", operands: "KEY VALUE…", operand: .setting, summary: "change settings, all or none",
            details: [offlineWords, "Keys:"],
            examples: [
                ("latchkey set remote-access on internet-access off", "two in one step"),
                ("latchkey set home-bitrate 15M", "bits per second; k and M are understood"),
                ("latchkey set address-name \"\"", "clears it"),
            ], worksOffline: true),
        CommandInfo(
            name: "print-cable",
            summary: "show which interface is the cable, and why others are not",
            details: [
                "Reads this machine itself, as any user, whether the service runs or not, and changes nothing. WHY is "
                    + "the first condition that an interface fails.",
                "Ends with 0 when at least one interface is the cable, 1 when none is.",
            ],
            examples: [
                ("latchkey print-cable", "with the device plugged in and unlocked"),
                ("latchkey print-cable --json | jq '.[] | select(.cable)'", "for a program"),
            ]),
        CommandInfo(
            name: "reachability",
            summary: "show whether a device away can reach this host, and why",
            options: [
                OptionInfo("--refresh", nil, "look at everything anew, the router included"),
                OptionInfo("--watch", nil, "go on, and show it again whenever it changes, until Ctrl-C"),
                check,
            ],
            details: [
                "The verdict and what to do come first, then the addresses in the order in which devices dial them, the "
                    + "VPNs, the router, IPv6 and the address name, and last where each fact came from.",
                "Ends with 0 when there is a report, whatever it says; with --check as the verdict is.",
            ],
            examples: [
                ("latchkey reachability", "the service's last report"),
                ("latchkey reachability --refresh --check", "for a script, of this moment"),
                ("latchkey reachability --watch", "while you change the router's settings"),
            ]),
        CommandInfo(
            name: "print-reachability",
            summary: "make that report here, without the service",
            options: [check],
            details: [
                "Looks at the interfaces, the VPNs and the router itself, as any user, whether the service runs or not, "
                    + "opens no door and changes nothing. The settings are the running service's, else those of its "
                    + "state directory; where neither may be read, the defaults, and the report says so. The router is "
                    + "asked even while internet access is off."
            ],
            examples: [
                ("latchkey print-reachability", "also before the first start"),
                ("latchkey print-reachability --json | jq .router", "what the router said"),
            ]),
        CommandInfo(
            name: "map-port", summary: "ask the router to forward the remote port, and keep it so",
            details: [
                "Asks by UPnP, else by NAT-PMP, for an hour that is renewed, and turns the setting port-mapping on. "
                    + "Never takes a port from another machine, and never touches a rule that is not its own. Remote "
                    + "access and internet access must be on."
            ],
            examples: [("latchkey map-port", "then: latchkey reachability --refresh")]),
        CommandInfo(
            name: "unmap-port", summary: "take that forward back, and ask for none any more",
            examples: [("latchkey unmap-port", "turns the setting port-mapping off")]),
        CommandInfo(
            name: "events", summary: "show what happened, or what happens",
            options: [
                OptionInfo("--follow", nil, "go on as things happen, until Ctrl-C"),
                OptionInfo("--since", "ID", "only what came after this event"),
            ],
            details: [
                "Without --follow it shows what the service remembers, at most the last 1,000. With it, new "
                    + "events only, or those after --since."
            ],
            examples: [
                ("latchkey events --follow", "as things happen"),
                ("latchkey events --follow --json", "one JSON object a line"),
            ]),
        CommandInfo(
            name: "audit", summary: "show who did what, newest first",
            options: [OptionInfo("--limit", "N", "the newest N records (50; with --json all)")],
            examples: [("latchkey audit --limit 10", "the last ten")]),
        CommandInfo(
            name: "identity", operands: "[show|rotate]", operand: .identityVerb,
            summary: "show the host's ID and fingerprint, or give it another key",
            options: [OptionInfo("--yes", nil, "rotate without asking first")],
            details: [
                "rotate makes a new host key, for when the old one may be known to somebody. Every device must pair "
                    + "again, and every session ends at once. It has the host's ID typed on a terminal; without one, "
                    + "--yes is needed."
            ],
            examples: [
                ("latchkey identity", "what devices pin"),
                ("latchkey identity rotate", "says what it costs, asks, then rotates"),
            ]),
        CommandInfo(
            name: "backup", operands: "FILE", operand: .file,
            summary: "save the host's key and database, sealed with a passphrase",
            options: [
                passphraseFile, OptionInfo("--force", nil, "replace a file that is there already"),
            ],
            details: [
                "Takes a consistent copy of the state directory's database and key, whether or not the service runs. "
                    + "It reads the files themselves, so it needs their owner or root. Without the passphrase nobody "
                    + "can open the file, and nobody can get it back."
            ],
            examples: [
                ("latchkey backup host.latchkey", "asks for the passphrase twice"),
                ("latchkey backup --passphrase-file /root/pass --force /srv/host.latchkey", "from a timer"),
            ]),
        CommandInfo(
            name: "restore", operands: "FILE", operand: .file,
            summary: "put a backup in the place of the host's key and database",
            options: [
                passphraseFile,
                OptionInfo("--restore-removed", nil, "bring back devices that were removed since"),
            ],
            details: [
                "The service must be stopped. Everything is checked before anything changes, and what was there is "
                    + "kept in a directory beside it. A device that was removed since the backup stays removed, unless "
                    + "--restore-removed is given.",
                "Ends with 75 when a service still holds the state directory.",
            ],
            examples: [
                ("latchkey restore host.latchkey", "after: systemctl stop latchkeyd"),
                ("latchkey restore --state-dir /tmp/look host.latchkey", "into a directory of its own"),
            ]),
        CommandInfo(
            name: "unlock", summary: "forget backoffs, quiet times and the count of asked windows",
            options: [
                OptionInfo("--source", "ADDR", "only this address's"),
                OptionInfo("--device", "ID", "only this device's"),
            ],
            examples: [("latchkey unlock --source 192.168.1.20", "let one address try again at once")]),
        CommandInfo(
            name: "completion", operands: "bash|zsh|fish", operand: .shell,
            summary: "print a completion script",
            examples: [
                ("source <(latchkey completion bash)", "for this shell"),
                ("latchkey completion fish > ~/.config/fish/completions/latchkey.fish", "for good"),
            ]),
        CommandInfo(name: "version", summary: "print the version"),
        CommandInfo(
            name: "help", operands: "[COMMAND]", operand: .command, summary: "explain a command",
            examples: [("latchkey help remove", "all about one command")]),
    ]
}
