// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// One thing to do, with all that was said about it.
package enum Command: Equatable, Sendable {
    case status
    case list
    case show(device: String)
    case rename(device: String, name: String)
    case remove(devices: [String], confirmed: Bool)
    case pair(PairOptions)
    case sessions
    case disconnect(session: String, message: String?)
    case quality
    case settings
    case set([SettingChange])
    case printCable
    case reachability(refresh: Bool, watches: Bool, checks: Bool)
    case printReachability(checks: Bool)
    case mapPort
    case unmapPort
    case events(follow: Bool, since: Int64?)
    case audit(limit: Int?)
    case identityShow
    case identityRotate(confirmed: Bool)
    case backup(file: String, passphraseFile: String?, replaces: Bool)
    case restore(file: String, passphraseFile: String?, restoresRemoved: Bool)
    case unlock(source: String?, device: String?)
    case completion(Shell)
    case version
    case help(topic: String?)
}

/// What `latchkey pair` was asked for.
package struct PairOptions: Equatable, Sendable {
    /// Seconds; the service's own when nil.
    package var lifetime: Int?
    package var homeOnly = false
    package var replace = false
    package var noWait = false
    /// Show the window that is open already and wait for it, instead of opening one.
    package var attach = false
    /// Draw the QR code also where the output is no terminal.
    package var draw = false
    /// Where the picture is written, if anywhere.
    package var svg: String?

    package init(
        lifetime: Int? = nil, homeOnly: Bool = false, replace: Bool = false, noWait: Bool = false,
        attach: Bool = false, draw: Bool = false, svg: String? = nil
    ) {
        self.lifetime = lifetime
        self.homeOnly = homeOnly
        self.replace = replace
        self.noWait = noWait
        self.attach = attach
        self.draw = draw
        self.svg = svg
    }
}

/// A shell that completions are written for.
package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

/// What `latchkey identity` can do.
package enum IdentityVerb: String, CaseIterable, Sendable { case show, rotate }

/// Options that every command takes, before or after it.
package struct GlobalOptions: Equatable, Sendable {
    package var json = false
    package var socket: String?
    package var api: String?
    package var tokenFile: String?
    package var stateDirectory: String?
    package var noColor = false

    package init() {}
}

/// A command line understood.
package struct Invocation: Equatable, Sendable {
    package var command: Command
    package var options: GlobalOptions

    package init(_ command: Command, _ options: GlobalOptions = GlobalOptions()) {
        self.command = command
        self.options = options
    }
}
