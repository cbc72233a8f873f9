-- Purpose: keeps an event.
-- Parameters: the columns of event, in order.
-- Idempotent: an event that is there already stays. Server: SQLite 3.24.
INSERT INTO event (seq, at_ms, kind, lock, session, host, pid, client, label, attempt, token, held_ms, doubt_ms, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (seq) DO NOTHING
