-- Locks the row of a lock until the transaction ends; waits for others. ? = name
-- Changes it: at SERIALIZABLE and SNAPSHOT the statement that waits has its snapshot from before the wait. If the
-- row has other values by then, H2 refuses (40001); if it was only locked, or rewritten unchanged, old data would be read.
-- Returns token.
SELECT token FROM FINAL TABLE (UPDATE mortise_txlock SET token = token + 1 WHERE name = ?)
