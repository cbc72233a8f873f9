-- Purpose: makes the tables of a history file that is new. One statement ends at each semicolon at the end of a line.
-- Parameters: none.
-- Atomic: run in one transaction. Server: SQLite 3.24.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  lock TEXT,
  session TEXT,
  host TEXT,
  pid INTEGER NOT NULL,
  client TEXT,
  label TEXT NOT NULL,
  attempt TEXT,
  token INTEGER NOT NULL,
  held_ms INTEGER,
  doubt_ms INTEGER NOT NULL,
  text TEXT
);
CREATE TABLE console (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  alive_ms INTEGER NOT NULL
);
PRAGMA application_id = 1297044040;
PRAGMA user_version = 1;
