-- Takes and releases whole locks that nobody waits for, many at a time, by the rules of acquire_fast, abandon_fast and exchange:
-- what together does, for locks that have rows and acquires that differ in nothing but the lock and the attempt.
-- One compound statement, whose INSERT commits by itself. It inserts, since an INSERT can have a value per row, and finds by the
-- key that each row is there; what is to be done with it comes in columns that say nothing of a free lock: tokens and label. A lock
-- that has lost its row gets one as if it had been forgotten long ago, and is asked for alone; where it stands twice, as some do to
-- fill up the list, it is taken the second time, as any free lock. Rows are locked in the order of names, hence in the order in which
-- together locks them. The session is read before, once, so that its row is not locked; the time is that of
-- the beginning.
-- :namespace; a row for each lock: :names; :takes = 0 for who releases, and nobody takes, else 1; :asks = the attempt, and behind
-- it that of who releases before it takes, if there is one. What follows holds for all who take:
-- :session; :capacity = of the lock, all of it is taken; :tokens = block wished for; :at_least_us = length, -1 for none; :label = for people
-- Assignments run from left to right. The first decides: no lock is held since -1, and nobody ever sees it.
-- Returns of each: the attempt that holds it, token, tokens; or the attempt that was the last to release it, 0, 0; see together.
DECLARE us BIGINT DEFAULT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED);
DECLARE alive BOOLEAN DEFAULT EXISTS (SELECT 1 FROM mortise_session WHERE id = :session AND expires_us > us);
DECLARE the_namespace VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT :namespace;
DECLARE the_label VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT :label;
DECLARE the_capacity BIGINT DEFAULT :capacity;
DECLARE the_tokens BIGINT DEFAULT :tokens;
DECLARE at_least BIGINT DEFAULT :at_least_us;
INSERT INTO mortise_lock (namespace, name, capacity, used, owner, token, tokens, since_us, free_us, shut_us, label,
  told, evicted, last_token, next_place, next_ticket, waiters, closed_us, touched_us, ended, ended_was, ended_how)
VALUES {(the_namespace, :names, the_capacity, 0, NULL, us, :takes, us, 9223372036854775807, 0, :asks,
  0, 0, us, 0, 0, 0, 0, 0, NULL, 'HELD', 'RELEASED')}...
ON DUPLICATE KEY UPDATE
  since_us   = IF(waiters = 0
                  AND IF(VALUES(tokens) = 0,
                         used > 0 AND owner = VALUES(label) AND told = 0 AND evicted = 0 AND free_us > us,
                         alive AND capacity = the_capacity AND last_token + 1 <= us + 1000000 - the_tokens
                         AND IF(SUBSTR(VALUES(label), 23) = '',
                                used = 0 AND closed_us <= us AND NOT (ended <=> VALUES(label)),
                                used > 0 AND owner = SUBSTR(VALUES(label), 23) AND told = 0 AND evicted = 0 AND free_us > us
                                AND GREATEST(closed_us, shut_us) <= us)), -1, since_us),
  closed_us  = IF(since_us = -1 AND used > 0, GREATEST(closed_us, shut_us), closed_us),
  ended_was  = IF(since_us = -1 AND used > 0, 'HELD', ended_was),
  ended_how  = IF(since_us = -1 AND used > 0, 'RELEASED', ended_how),
  ended      = IF(since_us = -1 AND used > 0, owner, ended),
  used       = IF(since_us = -1, IF(VALUES(tokens) = 0, 0, capacity), used),
  owner      = IF(since_us = -1, LEFT(VALUES(label), 22), owner),
  shut_us    = IF(since_us = -1 AND used > 0, IF(at_least < 0, 0, us + at_least), shut_us),
  free_us    = IF(since_us = -1 AND used > 0, 9223372036854775807, free_us),
  token      = IF(since_us = -1 AND used > 0, GREATEST(last_token + 1, us), token),
  tokens     = IF(since_us = -1 AND used > 0, the_tokens, tokens),
  last_token = IF(since_us = -1 AND used > 0, token + tokens - 1, last_token),
  label      = IF(since_us = -1 AND used > 0, the_label, label),
  told       = IF(since_us = -1, 0, told),
  evicted    = IF(since_us = -1, 0, evicted),
  touched_us = IF(since_us = -1, us, touched_us),
  since_us   = IF(since_us = -1, us, since_us)
RETURNING
  IF(waiters = 0 AND told = 0 AND evicted = 0,
     IF(used > 0, IF(free_us = 9223372036854775807, owner, NULL), IF(ended_was = 'HELD' AND ended_how = 'RELEASED', ended, NULL)), NULL),
  IF(used > 0, token, 0), IF(used > 0, tokens, 0)
