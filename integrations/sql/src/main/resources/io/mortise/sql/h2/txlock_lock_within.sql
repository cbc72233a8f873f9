-- Locks the row of a lock until the transaction ends; waits for others, {seconds} at most; txlock_lock comes next.
-- ? = name
-- Returns token; error 50200 if the time is over.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE WAIT {seconds}
