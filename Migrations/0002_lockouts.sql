-- What outlives a restart of those held back: backoffs, quiet times, the times of asked windows. `until` is when it
-- ends by the wall clock; ended rows go with the next change. SPDX-License-Identifier: Apache-2.0

CREATE TABLE lockouts (
    kind  TEXT    NOT NULL CHECK (length(kind) > 0),
    key   TEXT    NOT NULL CHECK (length(key) > 0),
    until INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX lockouts_by_end ON lockouts (until);
