-- One session, dead or alive. FOR UPDATE: a renewal that has begun is waited for, the next one waits for this transaction.
-- :session
-- Only after the row of a lock, never before it: else two transactions could wait for each other.
SELECT beat, expires_us, ttl_us, client FROM mortise_session WHERE id = :session
FOR UPDATE
