-- Takes and releases whole locks that nobody waits for, many at a time, by the rules of acquire_fast and abandon_fast. One
-- statement, which commits by itself. Rows are locked in the order of the requests, hence by name, so that two of these
-- never wait for each other in a circle; STRAIGHT_JOIN keeps to it, and to the primary key.
-- :namespace; :requests = JSON array of objects, sorted by n, no n twice: n = name, a = attempt, s = session,
-- c = capacity of the lock, or 0 to release it, t = tokens, f = least token, l = length of the at-least time or -1 for none,
-- b = label. None with an at-most time: who asks again has to be told what is left of it.
-- No assignment reads what another one writes, since nothing says which comes first: so a lock whose last block still
-- leads the clock is left out.
-- Changes the rows of those that it serves; together_read tells which.
UPDATE (SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AS us) t
STRAIGHT_JOIN JSON_TABLE(:requests, '$[*]' COLUMNS (
  name     VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.n',
  attempt  VARCHAR(22)  CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.a',
  session  VARCHAR(12)  CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.s',
  capacity BIGINT PATH '$.c',
  tokens   BIGINT PATH '$.t',
  least    BIGINT PATH '$.f',
  at_least BIGINT PATH '$.l',
  label    VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.b')) r
STRAIGHT_JOIN mortise_lock k
SET k.owner      = IF(r.capacity > 0, r.attempt, NULL),
    k.used       = r.capacity,
    k.token      = IF(r.capacity > 0, GREATEST(t.us, r.least), k.token),
    k.tokens     = IF(r.capacity > 0, r.tokens, k.tokens),
    k.last_token = IF(r.capacity > 0, GREATEST(t.us, r.least) + r.tokens - 1, k.last_token),
    k.since_us   = IF(r.capacity > 0, t.us, k.since_us),
    k.free_us    = IF(r.capacity = 0, k.free_us, 9223372036854775807),
    k.closed_us  = IF(r.capacity = 0, GREATEST(k.closed_us, k.shut_us), k.closed_us),
    k.shut_us    = IF(r.capacity = 0, k.shut_us, IF(r.at_least < 0, 0, t.us + r.at_least)),
    k.label      = IF(r.capacity > 0, r.label, k.label),
    k.told       = 0,
    k.evicted    = 0,
    k.touched_us = t.us,
    k.ended      = IF(r.capacity > 0, k.ended, r.attempt),
    k.ended_was  = IF(r.capacity > 0, k.ended_was, 'HELD'),
    k.ended_how  = IF(r.capacity > 0, k.ended_how, 'RELEASED')
WHERE k.namespace = :namespace AND k.name = r.name AND k.waiters = 0
  AND (r.capacity > 0
       AND k.used = 0 AND k.closed_us <= t.us AND k.capacity = r.capacity AND NOT (k.ended <=> r.attempt)
       AND k.last_token < t.us AND GREATEST(t.us, r.least) <= t.us + 1000000 - r.tokens
       AND (SELECT s.expires_us FROM mortise_session s WHERE s.id = r.session) > t.us
    OR r.capacity = 0
       AND k.owner = r.attempt AND k.told = 0 AND k.evicted = 0 AND k.free_us > t.us)
