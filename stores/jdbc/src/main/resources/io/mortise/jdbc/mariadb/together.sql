-- Takes and releases whole locks that nobody waits for, many at a time, by the rules of acquire_fast and abandon_fast, a release
-- and the acquire behind it in one step. One statement, which commits by itself. It inserts, because an update of many rows from
-- a list would keep the list and its changes in temporary tables; existing rows are updated in place. A lock without a row gets
-- one: held by the attempt, or free as if forgotten long ago; the latter is then requested alone. Rows are locked in the order of
-- the requests, hence by name, so that two of these never wait for each other in a circle; the table has no key but the primary
-- one, so that no gap is locked.
-- :namespace; :requests = JSON array of objects, sorted by n, no n twice: n = name, a = attempt, s = session,
-- c = capacity of the lock, or 0 to release it, t = tokens, f = least token, l = length of the at-least time or -1 for none,
-- b = label, o = the attempt that releases before a takes, if there is one. None with an at-most time: a retry must be told the rest
-- of it.
-- Assignments run from left to right. The first decides: no lock is held since -1, and nobody ever sees it.
-- Returns of each: the attempt that holds it, token, tokens; or the attempt that was the last to release it, 0, 0. This tells the
-- served requests: the row stays so until the same process sends another request, or somebody waits or evicts.
INSERT INTO mortise_lock (namespace, name, capacity, used, owner, token, tokens, since_us, free_us, shut_us, label,
  told, evicted, last_token, next_place, next_ticket, waiters, closed_us, touched_us, ended, ended_was, ended_how)
SELECT :namespace, r.n, IF(r.c > 0, r.c, 1000000), IF(p.id IS NULL OR r.o IS NOT NULL, 0, r.c),
  IF(p.id IS NULL OR r.o IS NOT NULL, NULL, r.a), GREATEST(t.us, r.f), r.t, t.us, 9223372036854775807,
  IF(r.l < 0, 0, t.us + r.l), r.b, 0, 0, GREATEST(t.us, r.f) + r.t - 1, 0, 0, 0, 0,
  IF(p.id IS NULL OR r.o IS NOT NULL, 0, t.us), NULL, 'HELD', 'RELEASED'
FROM (SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AS us) t
STRAIGHT_JOIN JSON_TABLE(:requests, '$[*]' COLUMNS (
  n VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.n',
  a VARCHAR(22)  CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.a',
  o VARCHAR(22)  CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.o',
  s VARCHAR(12)  CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.s',
  b VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.b' DEFAULT '' ON EMPTY,
  c BIGINT PATH '$.c',
  t BIGINT PATH '$.t' DEFAULT '0' ON EMPTY,
  f BIGINT PATH '$.f' DEFAULT '0' ON EMPTY,
  l BIGINT PATH '$.l' DEFAULT '0' ON EMPTY)) r
LEFT JOIN mortise_session p ON p.id = r.s AND p.expires_us > t.us AND GREATEST(t.us, r.f) <= t.us + 1000000 - r.t
WHERE TRUE
ON DUPLICATE KEY UPDATE
  since_us   = IF(waiters = 0
                  AND (r.c = 0
                       AND used > 0 AND owner = r.a AND told = 0 AND evicted = 0 AND free_us > t.us
                    OR r.c > 0
                       AND p.id IS NOT NULL AND capacity = r.c
                       AND last_token + 1 <= t.us + 1000000 - r.t
                       AND (r.o IS NULL
                            AND used = 0 AND closed_us <= t.us AND NOT (ended <=> r.a)
                         OR used > 0 AND owner = r.o AND told = 0 AND evicted = 0 AND free_us > t.us
                            AND GREATEST(closed_us, shut_us) <= t.us)), -1, since_us),
  closed_us  = IF(since_us = -1 AND (r.c = 0 OR r.o IS NOT NULL), GREATEST(closed_us, shut_us), closed_us),
  shut_us    = IF(since_us = -1 AND r.c > 0, IF(r.l < 0, 0, t.us + r.l), shut_us),
  free_us    = IF(since_us = -1 AND r.c > 0, 9223372036854775807, free_us),
  token      = IF(since_us = -1 AND r.c > 0, GREATEST(last_token + 1, t.us, r.f), token),
  tokens     = IF(since_us = -1 AND r.c > 0, r.t, tokens),
  last_token = IF(since_us = -1 AND r.c > 0, token + r.t - 1, last_token),
  label      = IF(since_us = -1 AND r.c > 0, r.b, label),
  told       = IF(since_us = -1, 0, told),
  evicted    = IF(since_us = -1, 0, evicted),
  used       = IF(since_us = -1, r.c, used),
  owner      = IF(since_us = -1 AND r.c > 0, r.a, owner),
  ended_was  = IF(since_us = -1 AND (r.c = 0 OR r.o IS NOT NULL), 'HELD', ended_was),
  ended_how  = IF(since_us = -1 AND (r.c = 0 OR r.o IS NOT NULL), 'RELEASED', ended_how),
  ended      = IF(since_us = -1, IF(r.c = 0, r.a, IFNULL(r.o, ended)), ended),
  touched_us = IF(since_us = -1, t.us, touched_us),
  since_us   = IF(since_us = -1, t.us, since_us)
RETURNING
  IF(waiters = 0 AND told = 0 AND evicted = 0,
     IF(used > 0, IF(free_us = 9223372036854775807, owner, NULL), IF(ended_was = 'HELD' AND ended_how = 'RELEASED', ended, NULL)), NULL),
  IF(used > 0, token, 0), IF(used > 0, tokens, 0)
