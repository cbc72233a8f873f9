-- Locks the row of a lock until the transaction ends; waits for others. Begins no snapshot, so what is read afterwards
-- is as it was left by the transaction before. ? = name
-- Returns token.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE
