-- The tables of Mortise for SQLite 3.35 or later. Made on first use unless create=false.
-- Another prefix than mortise_: replace it everywhere below.
-- Times (…_us) are microseconds since 1970 of the clock that mortise_meta names; booleans are 0 and 1.

-- Facts about the whole set of tables: schema (its version), clock, boot, offset_us.
CREATE TABLE IF NOT EXISTS mortise_meta (
  fact    TEXT NOT NULL PRIMARY KEY,
  content TEXT NOT NULL
) WITHOUT ROWID;

-- One row per live process; a missing or expired row means that the process is dead.
CREATE TABLE IF NOT EXISTS mortise_session (
  id         TEXT    NOT NULL PRIMARY KEY,
  beat       INTEGER NOT NULL,
  expires_us INTEGER NOT NULL,
  ttl_us     INTEGER NOT NULL,
  client     TEXT    NOT NULL
) WITHOUT ROWID;

-- One row per lock name. A holder of the whole capacity stands in the row itself (owner and the columns
-- up to evicted, which say nothing while used is 0); holders of a part stand in mortise_hold. told: 1 if
-- it is known that others want the lock, and 2 more if news was left that the lock was granted or is
-- wanted. Rows outlive the release: they keep the token counter and the last end.
CREATE TABLE IF NOT EXISTS mortise_lock (
  namespace   TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  capacity    INTEGER NOT NULL,
  used        INTEGER NOT NULL,
  owner       TEXT,
  token       INTEGER NOT NULL,
  tokens      INTEGER NOT NULL,
  since_us    INTEGER NOT NULL,
  free_us     INTEGER NOT NULL,
  shut_us     INTEGER NOT NULL,
  label       TEXT    NOT NULL,
  told        INTEGER NOT NULL,
  evicted     INTEGER NOT NULL,
  last_token  INTEGER NOT NULL,
  next_place  INTEGER NOT NULL,
  next_ticket INTEGER NOT NULL,
  waiters     INTEGER NOT NULL,
  closed_us   INTEGER NOT NULL,
  touched_us  INTEGER NOT NULL,
  ended       TEXT,
  ended_was   TEXT    NOT NULL,
  ended_how   TEXT    NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID;

-- Holders of a part of the capacity: readers, and permits.
CREATE TABLE IF NOT EXISTS mortise_hold (
  namespace TEXT    NOT NULL,
  name      TEXT    NOT NULL,
  attempt   TEXT    NOT NULL,
  place     INTEGER NOT NULL,
  weight    INTEGER NOT NULL,
  token     INTEGER NOT NULL,
  tokens    INTEGER NOT NULL,
  since_us  INTEGER NOT NULL,
  free_us   INTEGER NOT NULL,
  shut_us   INTEGER NOT NULL,
  label     TEXT    NOT NULL,
  told      INTEGER NOT NULL,
  evicted   INTEGER NOT NULL,
  PRIMARY KEY (namespace, name, attempt)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mortise_hold_place ON mortise_hold (namespace, name, place);

-- The queues, in order of ticket. at_most_us and at_least_us are lengths; -1 means none.
CREATE TABLE IF NOT EXISTS mortise_wait (
  namespace   TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  ticket      INTEGER NOT NULL,
  attempt     TEXT    NOT NULL,
  session     TEXT    NOT NULL,
  weight      INTEGER NOT NULL,
  tokens      INTEGER NOT NULL,
  token_floor INTEGER NOT NULL,
  at_most_us  INTEGER NOT NULL,
  at_least_us INTEGER NOT NULL,
  label       TEXT    NOT NULL,
  since_us    INTEGER NOT NULL,
  PRIMARY KEY (namespace, name, ticket)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS mortise_wait_attempt ON mortise_wait (namespace, name, attempt);

-- Notifications of a session, until it acknowledges them, or until the hold has ended.
CREATE TABLE IF NOT EXISTS mortise_news (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT    NOT NULL,
  kind    TEXT    NOT NULL,
  name    TEXT    NOT NULL,
  attempt TEXT    NOT NULL,
  token   INTEGER NOT NULL,
  tokens  INTEGER NOT NULL,
  flag    INTEGER NOT NULL,
  timed   INTEGER NOT NULL,
  how     TEXT    NOT NULL
);
CREATE INDEX IF NOT EXISTS mortise_news_session ON mortise_news (session, id);
CREATE INDEX IF NOT EXISTS mortise_news_attempt ON mortise_news (attempt);

-- Small texts that recipes keep beside the locks, such as the result of a task that runs once. Rows go when their time is over.
CREATE TABLE IF NOT EXISTS mortise_fact (
  namespace  TEXT NOT NULL,
  name       TEXT NOT NULL,
  version    INTEGER NOT NULL,
  content    TEXT NOT NULL,
  expires_us INTEGER NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mortise_fact_expires ON mortise_fact (namespace, expires_us);
