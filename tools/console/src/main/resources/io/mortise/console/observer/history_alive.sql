-- Purpose: notes that the console runs.
-- Parameters: store, since_ms (of a new file), alive_ms.
-- Server: SQLite 3.24.
INSERT INTO console (id, store, since_ms, alive_ms)
VALUES (1, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET alive_ms = excluded.alive_ms
