-- The tables of Mortise's SQL helpers for PostgreSQL 12 or later. Made when they are opened unless that is forbidden.
-- For another prefix than mortise_, replace it everywhere below.
-- Names are bytes of UTF-8, so that no collation takes two for one; to read them: convert_from(name, 'UTF8').
-- Times (…_us) are microseconds since 1970 of the database.

-- SqlFence: the latest token seen for a lock, and its holder. Deleting a row lets stale holders pass.
CREATE TABLE IF NOT EXISTS mortise_fence (
  name   BYTEA NOT NULL PRIMARY KEY,
  token  BIGINT NOT NULL,
  holder VARCHAR(64) NOT NULL
);

-- TransactionLocks: rows to be locked, with the last token. Made on first use in a transaction of their own.
CREATE TABLE IF NOT EXISTS mortise_txlock (
  name  BYTEA NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL
);

-- TransactionOnce: work done (done = 1), its result, and the time until which it counts (0: for ever).
CREATE TABLE IF NOT EXISTS mortise_once (
  name       BYTEA NOT NULL PRIMARY KEY,
  done       SMALLINT NOT NULL,
  result     BYTEA,
  done_us    BIGINT NOT NULL,
  expires_us BIGINT NOT NULL
);
