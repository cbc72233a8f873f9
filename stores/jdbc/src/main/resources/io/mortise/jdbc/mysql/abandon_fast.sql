-- Releases a whole lock that nobody waits for and of which no news was left. One statement, which commits by itself.
-- :namespace :name = the lock; :attempt = who
-- The owner stays, though it holds nothing any more: a row whose values keep their lengths is updated in its place.
-- Changes one row, or none: the slow path decides.
UPDATE mortise_lock
SET touched_us = CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED),
    used       = 0,
    closed_us  = GREATEST(closed_us, shut_us),
    ended      = :attempt,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
WHERE namespace = :namespace AND name = :name
  AND used > 0 AND owner = :attempt AND waiters = 0 AND told = 0 AND evicted = 0
  AND free_us > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
