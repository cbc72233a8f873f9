-- Locks the row of a lock until the transaction ends; waits for others. Begins no snapshot, so later reads see the
-- state that the previous transaction left. ? = name
-- Returns token.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE
