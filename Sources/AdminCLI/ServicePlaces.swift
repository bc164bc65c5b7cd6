// SPDX-License-Identifier: Apache-2.0

internal import APITypes

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
        let namedState = options.stateDirectory ?? variable("LATCHKEY_STATE_DIR")
        stateDirectory = namedState ?? ServiceDirectories.state(isRoot: isRoot, environment: environment)
        let system = ServiceDirectories.rootRuntime + "/api.sock"
        if let socket = options.socket {
            sockets = [socket]
        } else if let runtime = variable("LATCHKEY_RUNTIME_DIR") {
            sockets = [runtime + "/api.sock"]
        } else if isRoot {
            sockets = [system]
        } else {
            var places: [String] = []
            if let runtime = ServiceDirectories.userRuntime(environment: environment) {
                places.append(runtime + "/api.sock")
            }
            if let stateDirectory {
                places.append(ServiceDirectories.runtime(in: stateDirectory) + "/api.sock")
            }
            // Another user's service is meant only when no state directory of this user's is named.
            if namedState == nil { places.append(system) }
            sockets = places
        }
    }
}
