-- Purpose: reads the newest events, oldest first.
-- Parameters: the number of the newest that is not wanted.
-- Server: SQLite 3.24.
SELECT seq, at_ms, kind, lock, session, host, pid, client, label, attempt, token, held_ms, doubt_ms, text
FROM event
WHERE seq > ?
ORDER BY seq
