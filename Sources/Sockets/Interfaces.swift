// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Wire

/// The machine's addresses of this moment, of every interface whatever its state; a link-local IPv6 address with its
/// interface as scope. Nothing is kept.
package func ownAddresses() throws(SocketError) -> [IPAddress] {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&list) == 0 else { throw SocketError(errno: errno, call: "getifaddrs") }
    defer { unsafe freeifaddrs(list) }
    var found: [IPAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
        unsafe next = entry.pointee.ifa_next
        guard let address = unsafe entry.pointee.ifa_addr else { continue }
        if let ip = unsafe IPAddress(address) { found.append(ip) }
    }
    return found
}

/// The name of the interface with this index; nil when there is none.
package func interfaceName(_ index: UInt32) -> String? {
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard unsafe if_indextoname(index, &name) != nil else { return nil }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The index of the interface with this name; nil when there is none.
package func interfaceIndex(_ name: String) -> UInt32? {
    let index = unsafe if_nametoindex(name)
    return index == 0 ? nil : index
}
