internal import APITypes
internal import Core
internal import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// Keeps `RUNTIME/endpoints.json` true: where the API and the doors listen now (spec 07, 09.28).
final class EndpointsPublisher: Sendable {
    private let path: String
    /// nil once the file was removed for good. Held while writing, so that writes land in order and none comes after.
    private let file: Mutex<EndpointsFile?>

    init(directory: String) {
        path = directory + "/endpoints.json"
        file = Mutex(EndpointsFile(unix: nil, tcp: [], home: nil, remote: nil))
    }

    /// The API's addresses, which stay for the run; `unix`: nil when the service manager opened the socket, who alone
    /// knows its path. Throws when the file cannot be written.
    func apiListens(unix: String?, tcp: [String]) throws(SocketError) {
        try file.withLock { file throws(SocketError) in
            file?.unix = unix
            file?.tcp = tcp
            try write(file)
        }
    }

    /// A door that is not listening has no entry.
    func doorChanged(_ door: Door, _ state: DoorState) throws(SocketError) {
        let port: Int? = if case .listening(let port) = state { Int(port) } else { nil }
        try file.withLock { file throws(SocketError) in
            guard var changed = file else { return }
            switch door {
            case .home: changed.home = port
            case .remote: changed.remote = port
            }
            guard changed != file else { return }
            file = changed
            try write(changed)
        }
    }

    /// The service stops: tools must not find an address that answers nobody, also when a door's end is told after this.
    func remove() {
        file.withLock { file in
            file = nil
            try? removeFile(path)
        }
    }

    private func write(_ file: EndpointsFile?) throws(SocketError) {
        if let file { try writeFileAtomically(path, file.jsonBytes, mode: 0o644) }
    }
}
