internal import APITypes
internal import Core
internal import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// Keeps `RUNTIME/endpoints.json` true: where the API and the doors listen now (spec 07, 09.28).
final class EndpointsPublisher: Sendable {
    private let path: String
    private let file: Mutex<EndpointsFile>

    init(directory: String) {
        path = directory + "/endpoints.json"
        file = Mutex(EndpointsFile(unix: nil, tcp: [], home: nil, remote: nil))
    }

    /// The API's addresses, which stay for the run. Throws when the file cannot be written.
    func apiListens(unix: String?, tcp: [String]) throws(SocketError) {
        file.withLock { file in
            file.unix = unix
            file.tcp = tcp
        }
        try publish()
    }

    private func publish() throws(SocketError) {
        try writeFileAtomically(path, file.withLock { $0 }.jsonBytes, mode: 0o644)
    }

    /// A door that is not listening has no entry.
    func doorChanged(_ door: Door, _ state: DoorState) throws(SocketError) {
        let port: Int? = if case .listening(let port) = state { Int(port) } else { nil }
        let changed = file.withLock { file in
            let before = (file.home, file.remote)
            switch door {
            case .home: file.home = port
            case .remote: file.remote = port
            }
            return before != (file.home, file.remote)
        }
        if changed { try publish() }
    }

    /// The service has stopped: tools must not find an address that answers nobody.
    func remove() { try? removeFile(path) }
}
