-- Takes whole locks that have no row yet, many at a time; one statement, which commits by itself. The new row equals the result
-- of acquire_fast on a forgotten lock. In the order of names, so that two of these never wait for each other in a circle; a row
-- that somebody else makes meanwhile stays as it is.
-- :namespace; arrays as of together_acquire, of those that take and have nothing to release.
-- Returns attempt, token, tokens of those that have taken; a missing one is to be requested alone.
INSERT INTO mortise_lock (namespace, name, capacity, used, owner, token, tokens, since_us, free_us, shut_us, label,
  told, evicted, last_token, next_place, next_ticket, waiters, closed_us, touched_us, ended, ended_was, ended_how)
SELECT :namespace, r.name, r.capacity, r.capacity, r.attempt, greatest(t.us, r.floor), r.tokens, t.us,
       CASE WHEN r.at_most < 0 THEN 9223372036854775807 ELSE t.us + r.at_most END,
       CASE WHEN r.at_least < 0 THEN 0 ELSE t.us + r.at_least END,
       r.label, 0, 0, greatest(t.us, r.floor) + r.tokens - 1, 0, 0, 0, 0, t.us, NULL, 'HELD', 'RELEASED'
FROM (SELECT u.name, u.attempt, coalesce(u.session, (CAST(:sessions AS text[]))[1]) AS session, coalesce(u.label, '') AS label,
             u.capacity, u.tokens, coalesce(u.floor, 0) AS floor, coalesce(u.at_most, -1) AS at_most,
             coalesce(u.at_least, -1) AS at_least
      FROM unnest(CAST(:names AS text[]), CAST(:attempts AS text[]), CAST(:sessions AS text[]), CAST(:labels AS text[]),
                  CAST(:capacities AS bigint[]), CAST(:token_counts AS bigint[]), CAST(:token_floors AS bigint[]),
                  CAST(:at_most_us AS bigint[]), CAST(:at_least_us AS bigint[]))
             u(name, attempt, session, label, capacity, tokens, floor, at_most, at_least)) r,
     (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us) t
WHERE greatest(t.us, r.floor) <= t.us + 1000000 - r.tokens
  AND r.session IN (SELECT s.id FROM mortise_session s
                    WHERE s.id = ANY (CAST(:sessions AS text[]))
                      AND s.expires_us > CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint))
ORDER BY r.name
ON CONFLICT (namespace, name) DO NOTHING
RETURNING owner, token, tokens
