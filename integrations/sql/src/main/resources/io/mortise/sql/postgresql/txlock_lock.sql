-- Locks the row of a lock until the transaction ends; waits for others. ? = name
-- A write, not FOR UPDATE: above READ COMMITTED the statement that waits has its snapshot from before the wait. If
-- the row was written meanwhile, PostgreSQL refuses (40001); if it was only locked, old data would be read.
-- Returns token.
UPDATE mortise_txlock SET token = token WHERE name = ? RETURNING token
