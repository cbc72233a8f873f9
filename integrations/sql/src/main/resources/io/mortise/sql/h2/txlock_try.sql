-- Locks the row of a lock until the transaction ends, unless another has it; txlock_lock comes next. ? = name
-- Returns token; no row if another has it, and if there is none.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE SKIP LOCKED
