// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Wire

/// A name that could not be turned into addresses.
package struct ResolveError: Error, Sendable {
    /// The resolver's words, naming the host.
    package let message: String
    /// The resolver knows that there is no such name, or no address of it: it is not that it could not ask.
    package let isUnknownName: Bool
}

/// The addresses of a host name, in the order the system would dial them; a literal address answers itself.
///
/// Blocks on the network: for callers that own their thread (command line, device library).
package func resolve(_ name: String) throws(ResolveError) -> [IPAddress] {
    if let literal = IPAddress(name) { return [literal] }
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(name, nil, &hints, &list)
    guard code == 0 else {
        // EAI_NODATA, -5, is hidden without _GNU_SOURCE.
        throw ResolveError(
            message: unsafe "\(name): \(String(cString: gai_strerror(code)))",
            isUnknownName: code == EAI_NONAME || code == -5)
    }
    defer { unsafe freeaddrinfo(list) }
    var found: [IPAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
        unsafe next = entry.pointee.ai_next
        guard let address = unsafe entry.pointee.ai_addr else { continue }
        if let ip = unsafe IPAddress(address), !found.contains(ip) { found.append(ip) }
    }
    return found
}
