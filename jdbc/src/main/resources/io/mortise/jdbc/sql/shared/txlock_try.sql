-- Locks the row of a lock until the transaction ends, unless another has it. ? = name
-- Returns token; no row if another has it..
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE SKIP LOCKED
