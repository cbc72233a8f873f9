-- The tables of Mortise's SQL helpers for SQLite 3.24 or later. Made when they are opened unless that is forbidden.
-- For another prefix than mortise_, replace it everywhere below.
-- Names are bytes of UTF-8, so that no collation takes two for one; to read them: CAST(name AS TEXT).
-- Times (…_us) are microseconds since 1970 of the database.

-- SqlFence: the latest token seen for a lock, and its holder. Deleting a row lets stale holders pass.
CREATE TABLE IF NOT EXISTS mortise_fence (
  name   BLOB NOT NULL PRIMARY KEY,
  token  BIGINT NOT NULL,
  holder TEXT NOT NULL
) WITHOUT ROWID;

-- TransactionLocks: rows to be locked, with the last token. Made on first use in a transaction of their own.
CREATE TABLE IF NOT EXISTS mortise_txlock (
  name  BLOB NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL
) WITHOUT ROWID;

-- TransactionOnce: work done (done = 1), its result, and the time until which it counts (0: for ever).
CREATE TABLE IF NOT EXISTS mortise_once (
  name       BLOB NOT NULL PRIMARY KEY,
  done       SMALLINT NOT NULL,
  result     BLOB,
  done_us    BIGINT NOT NULL,
  expires_us BIGINT NOT NULL
) WITHOUT ROWID;
