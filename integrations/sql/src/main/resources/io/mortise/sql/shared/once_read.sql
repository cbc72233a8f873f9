-- The state of a key. ? = name
-- Returns 1 if it was done and that still counts, and the result.
SELECT CASE WHEN done = 1 AND (expires_us = 0 OR expires_us > {now_us}) THEN 1 ELSE 0 END, result
FROM mortise_once WHERE name = ?
