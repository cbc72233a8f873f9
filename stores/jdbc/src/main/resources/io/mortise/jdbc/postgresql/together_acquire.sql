-- Takes whole locks that nobody waits for, many at a time, by the rules of acquire_fast, or in the same step after the release of
-- :olds; one statement, which locks and finds rows, and reads the clock, as together_release does.
-- :namespace; arrays of one element per request, no name twice: :names :attempts :sessions :labels,
-- :olds = who releases before the other attempt takes, or null; :capacities = of the lock;
-- :token_counts :token_floors :at_most_us :at_least_us = as of one. Cut short where the rest is as usual: :sessions after the
-- first if all are the same, :labels, :token_floors, :at_most_us and :at_least_us if nobody has any, :olds if nobody releases.
-- Returns attempt, token, tokens of those that have taken; a missing one is to be requested alone.
UPDATE mortise_lock k
SET owner      = r.attempt,
    used       = k.capacity,
    token      = greatest(k.last_token + 1, r.us, r.floor),
    tokens     = least(r.tokens, greatest(1, r.us + 1000000 - greatest(k.last_token + 1, r.us, r.floor))),
    last_token = greatest(k.last_token + 1, r.us, r.floor) - 1
               + least(r.tokens, greatest(1, r.us + 1000000 - greatest(k.last_token + 1, r.us, r.floor))),
    since_us   = r.us,
    free_us    = CASE WHEN r.at_most < 0 THEN 9223372036854775807 ELSE r.us + r.at_most END,
    shut_us    = CASE WHEN r.at_least < 0 THEN 0 ELSE r.us + r.at_least END,
    label      = r.label,
    told       = 0,
    evicted    = 0,
    touched_us = r.us,
    closed_us  = CASE WHEN r.old IS NULL THEN k.closed_us ELSE greatest(k.closed_us, k.shut_us) END,
    ended      = coalesce(r.old, k.ended),
    ended_was  = CASE WHEN r.old IS NULL THEN k.ended_was ELSE 'HELD' END,
    ended_how  = CASE WHEN r.old IS NULL THEN k.ended_how ELSE 'RELEASED' END
FROM (SELECT (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)) AS us,
             (SELECT l.ctid FROM mortise_lock l WHERE l.namespace = :namespace AND l.name = u.name
              FOR UPDATE SKIP LOCKED) AS at,
             u.attempt, coalesce(u.session, (CAST(:sessions AS text[]))[1]) AS session, coalesce(u.label, '') AS label, u.old,
             u.capacity, u.tokens, coalesce(u.floor, 0) AS floor, coalesce(u.at_most, -1) AS at_most,
             coalesce(u.at_least, -1) AS at_least
      FROM unnest(CAST(:names AS text[]), CAST(:attempts AS text[]), CAST(:sessions AS text[]), CAST(:labels AS text[]),
                  CAST(:olds AS text[]), CAST(:capacities AS bigint[]), CAST(:token_counts AS bigint[]),
                  CAST(:token_floors AS bigint[]), CAST(:at_most_us AS bigint[]), CAST(:at_least_us AS bigint[]))
             u(name, attempt, session, label, old, capacity, tokens, floor, at_most, at_least)
      OFFSET 0) r
WHERE k.ctid = r.at
  AND k.waiters = 0 AND k.closed_us <= r.us AND k.capacity = r.capacity
  AND (r.old IS NULL AND k.used = 0 AND k.ended IS DISTINCT FROM r.attempt
       OR k.owner = r.old AND k.told = 0 AND k.evicted = 0 AND k.free_us > r.us AND k.shut_us <= r.us)
  AND r.session = ANY (ARRAY(SELECT s.id FROM mortise_session s
                             WHERE s.id = ANY (CAST(:sessions AS text[]))
                               AND s.expires_us > CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)))
RETURNING r.attempt, k.token, k.tokens
