// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An environment variable; nil when it is not set.
package func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

/// Whether this process runs as root, which moves the default places (spec 08).
package func isRoot() -> Bool { geteuid() == 0 }

/// The user this process acts as, for audit records.
package func userID() -> UInt32 { geteuid() }

/// The machine's host name; empty when it has none.
package func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Ends the process at once with `code`.
package func exitProcess(_ code: Int32) -> Never { exit(code) }
