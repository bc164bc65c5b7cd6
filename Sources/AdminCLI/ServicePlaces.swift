// SPDX-License-Identifier: Apache-2.0

/// Where a service's socket and state directory may be: the same defaults `latchkeyd` has (spec 08). Pure.
package struct ServicePlaces: Equatable, Sendable {
    /// Unix sockets to try, in order.
    package let sockets: [String]
    /// The state directory, for work while the service is down; nil when there is no home to look in.
    package let stateDirectory: String?

    /// Works them out from the options, the environment and who asks.
    package init(_ options: GlobalOptions, isRoot: Bool, environment: (String) -> String?) {
        func variable(_ name: String) -> String? {
            guard let value = environment(name), !value.isEmpty else { return nil }
            return value
        }
        // The XDG base directory specification ignores relative values.
        func base(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let namedState = options.stateDirectory ?? variable("LATCHKEY_STATE_DIR")
        let home = base("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
        stateDirectory = namedState ?? (isRoot ? "/var/lib/latchkey" : home.map { $0 + "/latchkey" })
        let system = "/run/latchkey/api.sock"
        if let socket = options.socket {
            sockets = [socket]
        } else if let runtime = variable("LATCHKEY_RUNTIME_DIR") {
            sockets = [runtime + "/api.sock"]
        } else if isRoot {
            sockets = [system]
        } else {
            var places: [String] = []
            if let runtime = base("XDG_RUNTIME_DIR") { places.append(runtime + "/latchkey/api.sock") }
            if let stateDirectory { places.append(stateDirectory + "/run/api.sock") }
            // Another user's service is meant only when no state directory of this user's is named.
            if namedState == nil { places.append(system) }
            sockets = places
        }
    }
}
