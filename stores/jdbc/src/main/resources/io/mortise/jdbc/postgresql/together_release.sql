-- Releases whole locks that nobody waits for, many at a time, by the rules of abandon_fast; one statement. Rows that somebody
-- else has locked are left out, not waited for: neither a slow row nor a deadlock stops the others. A row stays where it is while
-- it is locked, so that it is found by its place, whatever the planner thinks of the table; one that somebody has changed since
-- the statement began is left out too, as its new place is not seen.
-- Time: clock_timestamp(), once, when the first row is locked; so it may be a moment early.
-- :namespace; arrays of one element per request, no name twice: :names :attempts
-- Returns attempt, 0, 0 of those that have released; a missing one is to be requested alone.
UPDATE mortise_lock k
SET owner      = NULL,
    used       = 0,
    closed_us  = greatest(k.closed_us, k.shut_us),
    touched_us = r.us,
    ended      = r.attempt,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
FROM (SELECT u.attempt, (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)) AS us,
             (SELECT l.ctid FROM mortise_lock l WHERE l.namespace = :namespace AND l.name = u.name
              FOR UPDATE SKIP LOCKED) AS at
      FROM unnest(CAST(:names AS text[]), CAST(:attempts AS text[])) u(name, attempt)
      OFFSET 0) r
WHERE k.ctid = r.at
  AND k.owner = r.attempt AND k.waiters = 0 AND k.told = 0 AND k.evicted = 0 AND k.free_us > r.us
RETURNING r.attempt, 0, 0
