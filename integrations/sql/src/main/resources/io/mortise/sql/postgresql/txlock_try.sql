-- Locks the row of a lock until the transaction ends, unless another has it. ? = name
-- A write, for the reason given in txlock_lock.
-- Returns token; no row if another has it, and if there is none.
UPDATE mortise_txlock SET token = token
WHERE name = (SELECT name FROM mortise_txlock WHERE name = ? FOR UPDATE SKIP LOCKED)
RETURNING token
