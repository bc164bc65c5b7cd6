// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Wire

/// A socket address as the kernel reads and writes it: the only place where the two forms meet.
struct RawAddress {
    var storage = sockaddr_storage()
    var length: socklen_t = 0

    /// Empty, for the kernel to fill.
    init() { length = socklen_t(MemoryLayout<sockaddr_storage>.size) }

    init(_ address: SocketAddress) {
        let bytes = address.ip.bytes
        length = unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return unsafe shim_fill_inet(
                &storage, base, Int32(bytes.count), address.port, address.ip.scope)
        }
    }

    /// A Unix path; nil when it is empty or longer than the kernel's 107 bytes.
    init?(path: String) {
        length = unsafe path.withCString { unsafe shim_fill_unix(&storage, $0) }
        if length == 0 { return nil }
    }

    /// The TCP address; nil for any other family.
    func socketAddress() -> SocketAddress? {
        var bytes = [UInt8](repeating: 0, count: 16)
        var port: UInt16 = 0
        var scope: UInt32 = 0
        let count = unsafe withUnsafePointer(to: storage) { storage in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                guard let base = bytes.baseAddress else { return Int32(0) }
                return unsafe shim_read_storage(storage, base, &port, &scope)
            }
        }
        guard count > 0, let ip = IPAddress(bytes: Array(bytes.prefix(Int(count))), scope: scope) else {
            return nil
        }
        return SocketAddress(ip: ip, port: port)
    }

    var family: Int32 { Int32(storage.ss_family) }
}

extension IPAddress {
    /// What the system says an address is; nil when it is of another family.
    init?(_ address: UnsafePointer<sockaddr>) {
        var bytes = [UInt8](repeating: 0, count: 16)
        var port: UInt16 = 0
        var scope: UInt32 = 0
        let count = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return Int32(0) }
            return unsafe shim_read_inet(address, base, &port, &scope)
        }
        guard count > 0 else { return nil }
        self.init(bytes: Array(bytes.prefix(Int(count))), scope: scope)
    }
}
