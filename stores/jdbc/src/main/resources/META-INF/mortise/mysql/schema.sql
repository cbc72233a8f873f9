-- The tables of Mortise for MySQL 8.0.17 or later. Made on first use unless create=false.
-- Another prefix than mortise_: replace it everywhere below.
-- Times (…_us) are microseconds since 1970 of the database; booleans are 0 and 1.
-- InnoDB, because nothing else there has transactions; the collation compares by bytes and does not ignore blanks at
-- the end, so that every lock name is a name of its own.

-- Facts about the whole set of tables: schema, its version.
CREATE TABLE IF NOT EXISTS mortise_meta (
  fact    VARCHAR(100) NOT NULL PRIMARY KEY,
  content VARCHAR(2000) NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- One row per live process; a missing or expired row means that the process is dead. ttl_us is even, and one more while
-- the process holds the connection lock of its session (see hand_off.sql).
CREATE TABLE IF NOT EXISTS mortise_session (
  id         VARCHAR(12) NOT NULL PRIMARY KEY,
  beat       BIGINT  NOT NULL,
  expires_us BIGINT  NOT NULL,
  ttl_us     BIGINT  NOT NULL,
  client     VARCHAR(2000) NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- One row per lock name. A holder of the whole capacity stands in the row itself (owner and the columns
-- up to evicted, which say nothing while used is 0); holders of a part stand in mortise_hold. Rows
-- outlive the release: they keep the token counter and the last end.
CREATE TABLE IF NOT EXISTS mortise_lock (
  namespace   VARCHAR(100) NOT NULL,
  name        VARCHAR(512) NOT NULL,
  capacity    BIGINT  NOT NULL,
  used        BIGINT  NOT NULL,
  owner       VARCHAR(22),
  token       BIGINT  NOT NULL,
  tokens      BIGINT  NOT NULL,
  since_us    BIGINT  NOT NULL,
  free_us     BIGINT  NOT NULL,
  shut_us     BIGINT  NOT NULL,
  label       VARCHAR(100) NOT NULL,
  told        BIGINT  NOT NULL,
  evicted     BIGINT  NOT NULL,
  last_token  BIGINT  NOT NULL,
  next_place  BIGINT  NOT NULL,
  next_ticket BIGINT  NOT NULL,
  waiters     BIGINT  NOT NULL,
  closed_us   BIGINT  NOT NULL,
  touched_us  BIGINT  NOT NULL,
  ended       VARCHAR(22),
  ended_was   VARCHAR(20) NOT NULL,
  ended_how   VARCHAR(20) NOT NULL,
  PRIMARY KEY (namespace, name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- Holders of a part of the capacity: readers, and permits.
CREATE TABLE IF NOT EXISTS mortise_hold (
  namespace VARCHAR(100) NOT NULL,
  name      VARCHAR(512) NOT NULL,
  attempt   VARCHAR(22) NOT NULL,
  place     BIGINT  NOT NULL,
  weight    BIGINT  NOT NULL,
  token     BIGINT  NOT NULL,
  tokens    BIGINT  NOT NULL,
  since_us  BIGINT  NOT NULL,
  free_us   BIGINT  NOT NULL,
  shut_us   BIGINT  NOT NULL,
  label     VARCHAR(100) NOT NULL,
  told      BIGINT  NOT NULL,
  evicted   BIGINT  NOT NULL,
  PRIMARY KEY (namespace, name, attempt),
  KEY mortise_hold_place (namespace, name, place)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- The queues, in order of ticket. at_most_us and at_least_us are lengths; -1 means none.
CREATE TABLE IF NOT EXISTS mortise_wait (
  namespace   VARCHAR(100) NOT NULL,
  name        VARCHAR(512) NOT NULL,
  ticket      BIGINT  NOT NULL,
  attempt     VARCHAR(22) NOT NULL,
  session     VARCHAR(12) NOT NULL,
  weight      BIGINT  NOT NULL,
  tokens      BIGINT  NOT NULL,
  token_floor BIGINT  NOT NULL,
  at_most_us  BIGINT  NOT NULL,
  at_least_us BIGINT  NOT NULL,
  label       VARCHAR(100) NOT NULL,
  since_us    BIGINT  NOT NULL,
  PRIMARY KEY (namespace, name, ticket),
  UNIQUE KEY mortise_wait_attempt (namespace, name, attempt)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- Notifications of a session, until it acknowledges them, or until the hold has ended.
CREATE TABLE IF NOT EXISTS mortise_news (
  id      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  session VARCHAR(12) NOT NULL,
  kind    VARCHAR(20) NOT NULL,
  name    VARCHAR(512) NOT NULL,
  attempt VARCHAR(22) NOT NULL,
  token   BIGINT  NOT NULL,
  tokens  BIGINT  NOT NULL,
  flag    BIGINT  NOT NULL,
  timed   BIGINT  NOT NULL,
  how     VARCHAR(20) NOT NULL,
  KEY mortise_news_session (session, id),
  KEY mortise_news_attempt (attempt)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;

-- Small texts that recipes keep beside the locks, such as the result of a task that runs once. Rows go when their time is over.
CREATE TABLE IF NOT EXISTS mortise_fact (
  namespace  VARCHAR(100) NOT NULL,
  name       VARCHAR(512) NOT NULL,
  version    BIGINT NOT NULL,
  content    VARCHAR(8192) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_us BIGINT NOT NULL,
  PRIMARY KEY (namespace, name),
  KEY mortise_fact_expires (namespace, expires_us)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
