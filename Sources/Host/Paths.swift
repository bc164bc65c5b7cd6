/// Where the service keeps its state and its sockets when nobody says (spec 08).
package enum Paths {
    /// `/var/lib/latchkey` as root, else `$XDG_STATE_HOME/latchkey` (`~/.local/state/latchkey`).
    package static func defaultState(environment: [String: String], isRoot: Bool) -> String {
        if isRoot { return "/var/lib/latchkey" }
        if let base = absolute(environment["XDG_STATE_HOME"]) { return base + "/latchkey" }
        return (environment["HOME"] ?? "") + "/.local/state/latchkey"
    }

    /// `/run/latchkey` as root, else `$XDG_RUNTIME_DIR/latchkey`, else `STATE/run`.
    package static func defaultRuntime(environment: [String: String], isRoot: Bool, state: String) -> String {
        if isRoot { return "/run/latchkey" }
        if let base = absolute(environment["XDG_RUNTIME_DIR"]) { return base + "/latchkey" }
        return state + "/run"
    }

    /// The XDG base directory specification ignores relative values.
    private static func absolute(_ path: String?) -> String? {
        path.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
