-- Takes and releases whole locks that nobody waits for, many at a time; one flush, one implicit transaction. The rows
-- are locked first, and none that somebody else has locked is waited for: neither a slow row nor a deadlock stops the
-- others. A row stays where it is while it is locked, so the updates find it by its place, whatever the planner thinks
-- of the table. Their rules are those of abandon_fast, acquire_fast and exchange.
-- :namespace; arrays of one element per request, no name twice: :names :attempts :sessions :labels,
-- :olds = who releases before the other attempt takes, or null; :capacities = of the lock, or 0 to release it;
-- :token_counts :token_floors :at_most_us :at_least_us = as of one. Cut short where the rest is as usual: :sessions after
-- the first if all are the same, :labels, :token_floors, :at_most_us and :at_least_us if nobody has any, :olds if nobody releases.
-- Returns one row: what says nothing, and the places of those whose lock has no row, or null (see together_new). Then attempt,
-- 0, 0 of those that have released, then attempt, token, tokens of those that have taken; who is missing is to be asked for
-- alone.
SELECT set_config('mortise.rows', CAST(array_agg(l.at ORDER BY l.place) AS text), true),
       array_agg(l.place) FILTER (WHERE l.at IS NULL AND NOT EXISTS (SELECT 1 FROM mortise_lock k
                                                                     WHERE k.namespace = :namespace AND k.name = l.name))
FROM (SELECT r.place, r.name,
             (SELECT k.ctid FROM mortise_lock k WHERE k.namespace = :namespace AND k.name = r.name
              FOR UPDATE SKIP LOCKED) AS at
      FROM unnest(CAST(:names AS text[])) WITH ORDINALITY r(name, place)) l;
UPDATE mortise_lock k
SET owner      = NULL,
    used       = 0,
    closed_us  = greatest(k.closed_us, k.shut_us),
    touched_us = t.us,
    ended      = r.attempt,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
FROM unnest(CAST(current_setting('mortise.rows') AS tid[]), CAST(:attempts AS text[]), CAST(:capacities AS bigint[]))
       r(at, attempt, capacity),
     (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us) t
WHERE r.capacity = 0
  AND k.ctid = r.at
  AND k.owner = r.attempt AND k.waiters = 0 AND k.told = 0 AND k.evicted = 0 AND k.free_us > t.us
RETURNING r.attempt, 0, 0;
UPDATE mortise_lock k
SET owner      = r.attempt,
    used       = k.capacity,
    token      = greatest(k.last_token + 1, t.us, r.floor),
    tokens     = least(r.tokens, greatest(1, t.us + 1000000 - greatest(k.last_token + 1, t.us, r.floor))),
    last_token = greatest(k.last_token + 1, t.us, r.floor) - 1
               + least(r.tokens, greatest(1, t.us + 1000000 - greatest(k.last_token + 1, t.us, r.floor))),
    since_us   = t.us,
    free_us    = CASE WHEN r.at_most < 0 THEN 9223372036854775807 ELSE t.us + r.at_most END,
    shut_us    = CASE WHEN r.at_least < 0 THEN 0 ELSE t.us + r.at_least END,
    label      = r.label,
    told       = 0,
    evicted    = 0,
    touched_us = t.us,
    closed_us  = CASE WHEN r.old IS NULL THEN k.closed_us ELSE greatest(k.closed_us, k.shut_us) END,
    ended      = coalesce(r.old, k.ended),
    ended_was  = CASE WHEN r.old IS NULL THEN k.ended_was ELSE 'HELD' END,
    ended_how  = CASE WHEN r.old IS NULL THEN k.ended_how ELSE 'RELEASED' END
FROM (SELECT u.at, u.attempt, coalesce(u.session, (CAST(:sessions AS text[]))[1]) AS session, coalesce(u.label, '') AS label, u.old,
             u.capacity, u.tokens, coalesce(u.floor, 0) AS floor, coalesce(u.at_most, -1) AS at_most,
             coalesce(u.at_least, -1) AS at_least
      FROM unnest(CAST(current_setting('mortise.rows') AS tid[]), CAST(:attempts AS text[]), CAST(:sessions AS text[]),
                  CAST(:labels AS text[]), CAST(:olds AS text[]), CAST(:capacities AS bigint[]), CAST(:token_counts AS bigint[]),
                  CAST(:token_floors AS bigint[]), CAST(:at_most_us AS bigint[]), CAST(:at_least_us AS bigint[]))
             u(at, attempt, session, label, old, capacity, tokens, floor, at_most, at_least)) r,
     (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us) t
WHERE r.capacity > 0
  AND k.ctid = r.at
  AND k.waiters = 0 AND k.closed_us <= t.us AND k.capacity = r.capacity
  AND (r.old IS NULL AND k.used = 0 AND k.ended IS DISTINCT FROM r.attempt
       OR k.owner = r.old AND k.told = 0 AND k.evicted = 0 AND k.free_us > t.us AND k.shut_us <= t.us)
  AND r.session IN (SELECT s.id FROM mortise_session s
                    WHERE s.id = ANY (CAST(:sessions AS text[]))
                      AND s.expires_us > CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint))
RETURNING r.attempt, k.token, k.tokens
