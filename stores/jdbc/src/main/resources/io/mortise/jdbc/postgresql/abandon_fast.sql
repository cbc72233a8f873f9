-- Releases a whole lock that nobody waits for and of which no news was left. One statement, hence atomic; after a wait for the row, its
-- conditions are checked again on the newest version.
-- :namespace :name = the lock; :attempt = who
-- Time: clock_timestamp(), now.
-- Changes one row, or none: the slow path decides.
UPDATE mortise_lock
SET owner      = NULL,
    used       = 0,
    closed_us  = greatest(closed_us, shut_us),
    touched_us = t.us,
    ended      = :attempt,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us) t
WHERE namespace = :namespace AND name = :name
  AND owner = :attempt AND waiters = 0 AND told = 0 AND evicted = 0 AND free_us > t.us
