// SPDX-License-Identifier: Apache-2.0

/// Where each file of a state directory is (spec 08 and 09 point 14).
package struct StatePaths: Sendable {
    /// As given with `--state-dir`, without a slash at the end.
    package let directory: String

    /// Opens nothing.
    package init(_ directory: String) {
        var directory = directory
        while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
        self.directory = directory
    }

    /// Devices, settings, audit, identity.
    package var database: String { directory + "/latchkey.db" }
    /// The host's private key, PKCS#8 as PEM.
    package var key: String { directory + "/host-key.pem" }
    /// A key that becomes the host's once the database names it.
    package var newKey: String { directory + "/host-key.pem.new" }
    /// The bearer token of role `admin`.
    package var adminToken: String { directory + "/admin.token" }
    /// The bearer token of role `host`.
    package var hostToken: String { directory + "/host.token" }
    /// What `flock` is taken on.
    package var lock: String { directory + "/latchkey.lock" }
}
