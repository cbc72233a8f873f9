-- Purpose: forgets old events. Their pages are used again, so the file does not grow.
-- Parameters: the number of the newest to forget.
-- Server: SQLite 3.24.
DELETE FROM event
WHERE seq <= ?
