-- Releases a whole lock that nobody waits for and of which no news was left. One statement, hence atomic.
-- :namespace :name = the lock; :attempt = who; :now_us = host clock
-- Changes one row, or none: the slow path decides.
UPDATE mortise_lock
SET owner      = NULL,
    used       = 0,
    closed_us  = max(closed_us, shut_us),
    touched_us = :now_us,
    ended      = :attempt,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
WHERE namespace = :namespace AND name = :name
  AND owner = :attempt AND waiters = 0 AND told = 0 AND evicted = 0 AND free_us > :now_us
