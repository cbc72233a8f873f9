-- Locks the row of a lock until the transaction ends; waits for others. ? = name
-- Returns token.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE
