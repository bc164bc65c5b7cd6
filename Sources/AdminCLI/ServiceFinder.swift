// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyClient
internal import Sockets

/// Finds the running service.
struct ServiceFinder {
    let options: GlobalOptions
    let places: ServicePlaces

    init(_ options: GlobalOptions, _ console: Console) {
        self.options = options
        places = ServicePlaces(options, isRoot: console.isRoot, environment: console.environment)
    }

    /// A client connected to the first place that answers. Throws `Failure`: 3 when none does.
    func find() throws -> Client {
        if let url = options.api { return try connected(try endpoint(url)) }
        var refused: ClientError?
        for path in places.sockets {
            do {
                return try connected(.unix(path: path))
            } catch ClientError.notRunning {
                continue
            } catch let error as ClientError {
                refused = refused ?? error
            }
        }
        if let refused { throw Failure(refused) }
        throw Failure.notRunning(tried: places.sockets)
    }

    private func connected(_ endpoint: Endpoint) throws -> Client {
        let client = Client(endpoint)
        try client.connect()
        return client
    }

    private func endpoint(_ url: String) throws(Failure) -> Endpoint {
        let path = options.tokenFile ?? ""
        let bytes: [UInt8]
        do {
            bytes = try readFile(path, limit: 4096)
        } catch {
            throw Failure(.refused, "the token file cannot be read: \(error.message)")
        }
        let token = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
        if token.isEmpty { throw Failure(.refused, "the token file \(path) is empty") }
        guard let endpoint = Endpoint.url(url, token: token) else {
            throw Failure(
                .usage, "\(url) is not an address of the API",
                advice: ["It looks like http://127.0.0.1:7456"])
        }
        return endpoint
    }
}
