-- Releases a whole lock that others are known to want, and grants it to the head of its queue, if that lives, wants the whole lock
-- and would hear of it, or to nobody if the queue is empty: the two steps of LockTable in one flush. First the row is locked; so what the second statement sees is fresh, and nobody
-- else decides meanwhile. The hint follows the COMMIT, hence in a transaction of its own; it says what is true by then.
-- It waits for others that notify for as long as they take, see notify.sql.
-- :namespace :name = the lock; :attempt :session = who releases; :channels :connections = what the name of a channel, and of a
-- connection lock, begins with
-- A head that has said that its process holds a connection lock, and of which nobody holds it now, has no connection any more. That is
-- tried, not waited for, and by a shared lock, so that two that try do not take each other for that process. It ends with the COMMIT.
-- Time: clock_timestamp(), now.
-- Returns, after one row that says nothing: attempt, token, tokens, told, end of the at-most time of the heir, null if there is
-- none; no row: nothing was changed, and the slow path decides.
BEGIN;
SELECT 1 FROM mortise_lock WHERE namespace = :namespace AND name = :name FOR UPDATE;
WITH t AS MATERIALIZED (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us),
head AS MATERIALIZED (
  SELECT w.*, s.expires_us,
         CASE WHEN s.ttl_us % 2 = 1
              THEN pg_try_advisory_xact_lock_shared(hashtextextended(:connections || s.id, 0)) ELSE false END AS disconnected
  FROM (SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT 1) w
  JOIN mortise_session s ON s.id = w.session),
given AS (
  UPDATE mortise_lock k
  SET owner      = h.attempt,
      token      = greatest(k.last_token + 1, t.us, h.token_floor),
      tokens     = least(h.tokens, greatest(1, t.us + 1000000 - greatest(k.last_token + 1, t.us, h.token_floor))),
      last_token = greatest(k.last_token + 1, t.us, h.token_floor) - 1
                 + least(h.tokens, greatest(1, t.us + 1000000 - greatest(k.last_token + 1, t.us, h.token_floor))),
      since_us   = t.us,
      free_us    = CASE WHEN h.at_most_us < 0 THEN 9223372036854775807 ELSE t.us + h.at_most_us END,
      shut_us    = CASE WHEN h.at_least_us < 0 THEN 0 ELSE t.us + h.at_least_us END,
      label      = h.label,
      told       = CASE WHEN k.waiters > 1 THEN 3 ELSE 2 END,
      waiters    = k.waiters - 1,
      closed_us  = greatest(k.closed_us, k.shut_us),
      touched_us = t.us,
      ended      = :attempt,
      ended_was  = 'HELD',
      ended_how  = 'RELEASED'
  FROM head h, t
  WHERE k.namespace = :namespace AND k.name = :name
    AND k.owner = :attempt AND k.evicted = 0 AND k.free_us > t.us AND greatest(k.closed_us, k.shut_us) <= t.us
    AND k.waiters > 0 AND h.weight = k.capacity
    AND h.expires_us > t.us AND NOT h.disconnected
  RETURNING k.owner, k.token, k.tokens, k.told, k.free_us),
freed AS (
  UPDATE mortise_lock k
  SET owner      = NULL,
      used       = 0,
      closed_us  = greatest(k.closed_us, k.shut_us),
      touched_us = t.us,
      ended      = :attempt,
      ended_was  = 'HELD',
      ended_how  = 'RELEASED'
  FROM t
  WHERE k.namespace = :namespace AND k.name = :name
    AND k.owner = :attempt AND k.evicted = 0 AND k.free_us > t.us AND k.waiters = 0
  RETURNING k.owner, k.token, k.tokens, k.told, k.free_us),
done AS (SELECT * FROM given UNION ALL SELECT * FROM freed),
left_queue AS (
  DELETE FROM mortise_wait w USING given g
  WHERE w.namespace = :namespace AND w.name = :name AND w.attempt = g.owner),
forgotten AS (
  DELETE FROM mortise_news n USING done WHERE n.attempt = :attempt AND n.kind <> 'gone'),
told AS (
  INSERT INTO mortise_news (session, kind, name, attempt, token, tokens, flag, timed, how)
  SELECT substr(g.owner, 1, 12), 'granted', :name, g.owner, g.token, g.tokens, g.told & 1,
         CASE WHEN g.free_us = 9223372036854775807 THEN 0 ELSE 1 END, ''
  FROM given g)
SELECT owner, token, tokens, told, free_us FROM done;
COMMIT;
SELECT set_config('lock_timeout', '0', true), pg_notify(:channels || substr(owner, 1, 12),
                 concat_ws(chr(10), 'granted', owner, name, token, tokens,
                           CAST(told & 1 = 1 AS text), CAST(free_us <> 9223372036854775807 AS text)))
FROM mortise_lock
WHERE namespace = :namespace AND name = :name
  AND ended = :attempt AND told & 2 = 2 AND owner <> :attempt AND substr(owner, 1, 12) <> :session
