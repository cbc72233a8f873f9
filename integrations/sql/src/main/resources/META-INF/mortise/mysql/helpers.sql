-- The tables of Mortise's SQL helpers for MySQL 8.0.17 or later. Made when they are opened unless that is forbidden.
-- For another prefix than mortise_, replace it everywhere below.
-- Names are bytes of UTF-8, so that no collation takes two for one; to read them: CONVERT(name USING utf8mb4).
-- Times (…_us) are microseconds since 1970 of the database.

-- SqlFence: the latest token seen for a lock, and its holder. Deleting a row lets stale holders pass.
CREATE TABLE IF NOT EXISTS mortise_fence (
  name   VARBINARY(512) NOT NULL PRIMARY KEY,
  token  BIGINT NOT NULL,
  holder VARCHAR(64) NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- TransactionLocks: rows to be locked, with the last token. Made on first use in a transaction of their own.
CREATE TABLE IF NOT EXISTS mortise_txlock (
  name  VARBINARY(512) NOT NULL PRIMARY KEY,
  token BIGINT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- TransactionOnce: work done (done = 1), its result, and the time until which it counts (0: for ever).
CREATE TABLE IF NOT EXISTS mortise_once (
  name       VARBINARY(512) NOT NULL PRIMARY KEY,
  done       SMALLINT NOT NULL,
  result     MEDIUMBLOB,
  done_us    BIGINT NOT NULL,
  expires_us BIGINT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;
