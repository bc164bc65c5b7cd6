-- The first schema. Times are milliseconds since 1970 UTC; fingerprints are 32-byte SHA-256 values of a
-- SubjectPublicKeyInfo. SPDX-License-Identifier: Apache-2.0

-- Whose database this is: one row, written last at first start and compared with the key file at every other.
CREATE TABLE identity (
    only            INTEGER PRIMARY KEY CHECK (only = 1),
    fingerprint     BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    recognition_key BLOB    NOT NULL CHECK (length(recognition_key) = 32),
    created_at      INTEGER NOT NULL CHECK (created_at >= 0)
) STRICT;

-- Paired devices. A device's ID is the beginning of its fingerprint in another alphabet, so it is not stored a second
-- time; both sort alike. `name_folded` is the name in lower case, for sorting and searching (SQLite folds ASCII only).
CREATE TABLE devices (
    fingerprint  BLOB    NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 32),
    name         TEXT    NOT NULL,
    name_folded  TEXT    NOT NULL,
    model        TEXT,
    paired_at    INTEGER NOT NULL,
    paired_how   TEXT    NOT NULL CHECK (length(paired_how) > 0),
    cable_device TEXT    CHECK (length(cable_device) > 0),
    last_seen_at INTEGER,
    last_route   TEXT
) STRICT;

-- One index for each order a list pages in; the fingerprint makes every position unique.
CREATE INDEX devices_by_name ON devices (name_folded, fingerprint);
CREATE INDEX devices_by_pairing ON devices (paired_at DESC, fingerprint);
CREATE INDEX devices_by_last_seen ON devices (ifnull(last_seen_at, -1) DESC, fingerprint);

-- Keys that were removed. An import does not bring one back unless it is asked to.
CREATE TABLE tombstones (
    fingerprint BLOB    NOT NULL PRIMARY KEY CHECK (length(fingerprint) = 32),
    removed_at  INTEGER NOT NULL,
    removed_by  TEXT    NOT NULL
) STRICT;

CREATE TRIGGER devices_stay_removed BEFORE INSERT ON devices
WHEN EXISTS (SELECT 1 FROM tombstones WHERE fingerprint = NEW.fingerprint)
BEGIN
    SELECT RAISE(ABORT, 'this key was removed; its tombstone is still there');
END;

-- Settings that differ from their defaults, under the API's names, and `requirePairing` in its signed form.
CREATE TABLE settings (
    key   TEXT NOT NULL PRIMARY KEY CHECK (length(key) > 0),
    value TEXT NOT NULL
) STRICT;

-- What was done, by whom. Rows are only ever added.
CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL CHECK (length(actor) > 0),
    action  TEXT    NOT NULL CHECK (length(action) > 0),
    device  TEXT,
    remote  TEXT,
    outcome TEXT    NOT NULL,
    detail  TEXT
) STRICT;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit rows are never changed');
END;

CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'audit rows are never removed');
END;
