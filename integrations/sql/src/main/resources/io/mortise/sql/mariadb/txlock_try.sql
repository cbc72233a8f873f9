-- Locks the row of a lock until the transaction ends, unless another has it. ? = name
-- Returns token; error 1205 if another has it. Not SKIP LOCKED, which locks the gap behind the row that it skips: the
-- next row could not be made while the transaction is open.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE NOWAIT
