-- Purpose: reads of which store the file is, since when it is kept, until when a console ran, and its newest event.
-- Parameters: none. Returns no row for a new file.
-- Server: SQLite 3.24.
SELECT store, since_ms, alive_ms, (SELECT coalesce(max(seq), 0) FROM event) AS last_seq
FROM console
WHERE id = 1
