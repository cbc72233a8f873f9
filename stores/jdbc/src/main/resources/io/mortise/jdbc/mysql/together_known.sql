-- Takes and releases whole locks that nobody waits for, many at a time, by the rules of acquire_fast and abandon_fast, a release
-- and the acquire behind it in one step: as together, for locks that have rows and acquires that differ only in the lock and the
-- attempt. One statement, which commits by itself. It finds rows by their key and changes them where they stand, in the order of
-- names, hence in the order in which together locks them. Its time is that of its beginning.
-- :namespace; lists of one length, each entry for the lock whose name stands there in :names, '' where there is none:
-- :takers = who takes; of a lock that is taken: :free = its name, or :before = who releases it first; :leavers = who releases,
-- and nobody takes. The rest is the same for all acquires:
-- :session; :capacity = of the lock, all of it is taken; :tokens = block wished for; :at_least_us = length, -1 for none; :label =
-- for people
-- Takes nothing whose last token is not before now, so that all blocks begin with one number. Assignments run from left to right.
-- Changes the rows of those that it serves; together_read tells which, if not all. Gives the first token of each block as the
-- generated key.
UPDATE mortise_lock FORCE INDEX (PRIMARY)
SET closed_us  = IF(used > 0, GREATEST(closed_us, shut_us), closed_us),
    ended      = IF(used > 0, owner, ended),
    ended_was  = IF(used > 0, 'HELD', ended_was),
    ended_how  = IF(used > 0, 'RELEASED', ended_how),
    owner      = COALESCE(NULLIF(ELT(FIELD(name, :names...), :takers...), ''), owner),
    used       = IF(owner <=> ended, 0, capacity),
    touched_us = LAST_INSERT_ID(CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)),
    token      = IF(used = 0, token, touched_us),
    tokens     = IF(used = 0, tokens, :tokens),
    last_token = IF(used = 0, last_token, token + tokens - 1),
    since_us   = touched_us,
    free_us    = IF(used = 0, free_us, 9223372036854775807),
    shut_us    = IF(used = 0, shut_us, IF(:at_least_us < 0, 0, touched_us + :at_least_us)),
    label      = IF(used = 0, label, :label),
    told       = 0,
    evicted    = 0
WHERE namespace = :namespace AND name IN (:names...) AND waiters = 0
  AND (used = 0 AND name IN (:free...) AND closed_us <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)
       AND (ended IS NULL OR ended NOT IN (:takers...))
    OR used > 0
       AND (owner IN (:leavers...)
        OR owner IN (:before...) AND GREATEST(closed_us, shut_us) <= CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
       AND told = 0 AND evicted = 0 AND free_us > CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
  AND (owner IN (:leavers...)
    OR capacity = :capacity
       AND last_token < CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) + LEAST(0, 1000000 - :tokens)
       AND (SELECT expires_us FROM mortise_session WHERE id = :session) > CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
