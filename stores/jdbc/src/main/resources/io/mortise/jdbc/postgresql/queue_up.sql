-- Takes a whole lock if it is free, else joins the queue behind its holder: the common case of LockTable, in one flush, for an
-- attempt that expects to find it held. First the row is locked; so what the second statement sees is fresh, and nobody else
-- decides meanwhile. The common case: the holder of the whole lock lives, is not over or evicted, and so does the head of the
-- queue. The hint to the holder follows the COMMIT, hence in a transaction of its own; the first in the queue at that time sends
-- it. It waits for others that notify for as long as they take, see notify.sql.
-- :namespace :name = the lock; :attempt :session = who; :capacity = of the lock, all of it is wanted
-- :tokens :token_floor = block wished for, least token
-- :at_most_us :at_least_us = lengths, -1 for none; :label = for people; :ahead = of how many the sessions are looked at
-- :channels = what the name of a channel begins with
-- Time: clock_timestamp(), now.
-- Returns, after one row that says nothing: null, token, tokens and five numbers that say nothing if it was taken; or of the
-- holder attempt, token, told before, what is left of its session, end of its at-most time, then how many are ahead, when the
-- first session of theirs ends (or null), the clock. No row: nothing was changed, and the slow path decides.
BEGIN;
SELECT 1 FROM mortise_lock WHERE namespace = :namespace AND name = :name FOR UPDATE;
WITH r AS MATERIALIZED (
  SELECT CAST(:namespace AS text) AS namespace, CAST(:name AS text) AS name, CAST(:attempt AS text) AS attempt,
         CAST(:session AS text) AS session, CAST(:capacity AS bigint) AS capacity, CAST(:tokens AS bigint) AS tokens,
         CAST(:token_floor AS bigint) AS floor, CAST(:at_most_us AS bigint) AS at_most, CAST(:at_least_us AS bigint) AS at_least,
         CAST(:label AS text) AS label, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us),
asker AS MATERIALIZED (
  SELECT r.* FROM r JOIN mortise_session s ON s.id = r.session WHERE s.expires_us > r.us),
taken AS (
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
      touched_us = r.us
  FROM asker r
  WHERE k.namespace = r.namespace AND k.name = r.name
    AND k.used = 0 AND k.waiters = 0 AND k.closed_us <= r.us AND k.capacity = r.capacity
    AND k.ended IS DISTINCT FROM r.attempt
  RETURNING k.token, k.tokens),
head AS MATERIALIZED (
  SELECT w.ticket, s.expires_us
  FROM r, LATERAL (SELECT q.ticket, q.session FROM mortise_wait q
                   WHERE q.namespace = r.namespace AND q.name = r.name ORDER BY q.ticket LIMIT 1) w
  JOIN mortise_session s ON s.id = w.session),
holder AS MATERIALIZED (
  SELECT k.owner, k.token, k.told, k.free_us, k.waiters, k.next_ticket, least(s.expires_us - r.us, s.ttl_us) AS life, r.*
  FROM asker r
  JOIN mortise_lock k ON k.namespace = r.namespace AND k.name = r.name
  JOIN mortise_session s ON s.id = substr(k.owner, 1, 12)
  WHERE k.owner <> r.attempt AND k.ended IS DISTINCT FROM r.attempt AND k.capacity = r.capacity
    AND k.evicted = 0 AND k.free_us > r.us AND k.closed_us <= r.us
    AND s.expires_us > r.us AND s.expires_us - r.us <= s.ttl_us + 100000
    AND (k.waiters = 0 OR EXISTS (SELECT 1 FROM head h WHERE h.expires_us > r.us))
    AND NOT EXISTS (SELECT 1 FROM mortise_wait w
                    WHERE w.namespace = r.namespace AND w.name = r.name AND w.attempt = r.attempt)),
queued AS (
  UPDATE mortise_lock k
  SET waiters     = k.waiters + 1,
      next_ticket = k.next_ticket + 1,
      told        = CASE WHEN k.told & 1 = 1 THEN k.told ELSE 3 END,
      touched_us  = h.us
  FROM holder h
  WHERE k.namespace = h.namespace AND k.name = h.name),
placed AS (
  INSERT INTO mortise_wait (namespace, name, ticket, attempt, session, weight, tokens, token_floor, at_most_us, at_least_us, label,
    since_us)
  SELECT h.namespace, h.name, h.next_ticket, h.attempt, h.session, h.capacity, h.tokens, h.floor, h.at_most, h.at_least, h.label, h.us
  FROM holder h),
wanted AS (
  INSERT INTO mortise_news (session, kind, name, attempt, token, tokens, flag, timed, how)
  SELECT substr(h.owner, 1, 12), 'wanted', h.name, h.owner, 0, 0, 0, 0, '' FROM holder h WHERE h.told & 1 = 0)
SELECT NULL, token, tokens, 0, 0, 0, 0, 0 FROM taken
UNION ALL
SELECT h.owner, h.token, h.told, h.life, h.free_us,
       h.waiters,
       (SELECT min(s.expires_us)
        FROM (SELECT w.session FROM mortise_wait w WHERE w.namespace = h.namespace AND w.name = h.name
              ORDER BY w.ticket LIMIT :ahead) w
        JOIN mortise_session s ON s.id = w.session
        WHERE s.expires_us > h.us),
       h.us
FROM holder h;
COMMIT;
SELECT set_config('lock_timeout', '0', true), pg_notify(:channels || substr(k.owner, 1, 12), concat_ws(chr(10), 'wanted', k.owner, k.name))
FROM mortise_lock k
WHERE k.namespace = :namespace AND k.name = :name AND k.told & 2 = 2 AND substr(k.owner, 1, 12) <> :session
  AND (SELECT w.attempt FROM mortise_wait w WHERE w.namespace = k.namespace AND w.name = k.name ORDER BY w.ticket LIMIT 1) = :attempt
