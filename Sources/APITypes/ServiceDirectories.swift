// SPDX-License-Identifier: Apache-2.0

/// Where a service keeps its state and its sockets when nobody says (spec 08). One rule, for the service that makes the
/// directories and for the commands that look for it.
package enum ServiceDirectories {
    /// Root's state directory.
    package static let rootState = "/var/lib/latchkey"
    /// Root's runtime directory, and the one of a service that the system runs.
    package static let rootRuntime = "/run/latchkey"

    /// `/var/lib/latchkey` as root, else `$XDG_STATE_HOME/latchkey` (`~/.local/state/latchkey`); nil without a home.
    package static func state(isRoot: Bool, environment: (String) -> String?) -> String? {
        if isRoot { return rootState }
        if let base = base("XDG_STATE_HOME", environment) { return base + "/latchkey" }
        guard let home = environment("HOME"), !home.isEmpty else { return nil }
        return home + "/.local/state/latchkey"
    }

    /// The user's own: `$XDG_RUNTIME_DIR/latchkey`; nil when there is none.
    package static func userRuntime(environment: (String) -> String?) -> String? {
        base("XDG_RUNTIME_DIR", environment).map { $0 + "/latchkey" }
    }

    /// The runtime directory of a service without one of its user's: inside its state directory.
    package static func runtime(in state: String) -> String { state + "/run" }

    /// The XDG base directory specification ignores relative values.
    private static func base(_ name: String, _ environment: (String) -> String?) -> String? {
        environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
