// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An environment variable; nil when it is not set.
package func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}

/// Whether this process runs as root, which moves the default places (spec 08).
package func isRoot() -> Bool { geteuid() == 0 }

/// Ends the process at once with `code`.
package func exitProcess(_ code: Int32) -> Never { exit(code) }
