// SPDX-License-Identifier: Apache-2.0

/// One step of the schema. A mistake gets the next number, not an edit.
package struct Migration: Sendable {
    /// 1, 2, 3… without gaps; what `PRAGMA user_version` says once it has run.
    package let version: Int64
    /// SQL text that names no Swift type; it begins and ends no transaction.
    package let sql: String

    /// A step as tests make their own; shipped ones are in `Migrations.all`.
    package init(version: Int64, sql: String) {
        self.version = version
        self.sql = sql
    }
}

/// The steps this release knows, embedded in the binary from the `.sql` files beside this one.
package enum Migrations {
    /// Oldest first. A new file takes the same path as an old one: all of them, in order.
    package static let all: [Migration] = [
        Migration(version: 1, sql: String(decoding: PackageResources._001_initial_sql, as: UTF8.self)),
        Migration(version: 2, sql: String(decoding: PackageResources._002_lockouts_sql, as: UTF8.self)),
    ]
}
