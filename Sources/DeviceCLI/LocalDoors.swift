// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Sockets
internal import Wire

/// The doors of a host on this same machine, as its `endpoints.json` names them (spec 07). What is found is only where to
/// dial: who answers is decided by the pinned key.
struct LocalDoors: Equatable, Sendable {
    /// The home door's port, while it listens.
    var home: Int?
    /// The remote door's port, while it listens.
    var remote: Int?

    private static let fileLimit = 64 << 10

    /// Reads the first `endpoints.json` that is there.
    static func find(in directories: [String]) -> LocalDoors? {
        for directory in directories {
            if let bytes = try? readFile(directory + "/endpoints.json", limit: fileLimit),
                let found = LocalDoors(bytes)
            {
                return found
            }
        }
        return nil
    }

    /// nil for text that is not such a file; a door that is not listening has no entry.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON.parse(bytes), let doors = json["doors"] else { return nil }
        home = doors["home"]?.int
        remote = doors["remote"]?.int
    }

    /// Where `latchkeyd` keeps its runtime files by default (spec 08), in the order to look.
    static func directories(
        option: String?, isRoot: Bool, environment: (String) -> String?
    ) -> [String] {
        func variable(_ name: String) -> String? {
            guard let value = environment(name), !value.isEmpty else { return nil }
            return value
        }
        if let option { return [option] }
        if let named = variable("LATCHKEY_RUNTIME_DIR") { return [named] }
        var places: [String] = []
        if let state = variable("LATCHKEY_STATE_DIR") { places.append(ServiceDirectories.runtime(in: state)) }
        if !isRoot {
            if let runtime = ServiceDirectories.userRuntime(environment: environment) {
                places.append(runtime)
            }
            if let state = ServiceDirectories.state(isRoot: false, environment: environment) {
                places.append(ServiceDirectories.runtime(in: state))
            }
        }
        places.append(ServiceDirectories.rootRuntime)
        return places
    }
}
