-- Releases a whole lock that nobody waits for, and takes it again for another attempt of the same process: abandon_fast and
-- acquire_fast in one statement, hence one commit. Assignments run from left to right, as in acquire_fast.
-- :namespace :name = the lock; :old = who releases; :attempt :session = who takes; :capacity = of the lock, all of it is taken
-- :tokens :token_floor = block wished for, least token
-- :at_most_us :at_least_us = lengths, -1 for none; :label = for people
-- Changes one row, and gives the token as the key that it generates; or none: the two are to be done one after the other.
UPDATE mortise_lock
SET touched_us = CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED),
    owner      = :attempt,
    token      = LAST_INSERT_ID(GREATEST(last_token + 1, touched_us, :token_floor)),
    tokens     = :tokens,
    last_token = token + tokens - 1,
    since_us   = touched_us,
    free_us    = IF(:at_most_us < 0, 9223372036854775807, touched_us + :at_most_us),
    closed_us  = GREATEST(closed_us, shut_us),
    shut_us    = IF(:at_least_us < 0, 0, touched_us + :at_least_us),
    label      = :label,
    ended      = :old,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
WHERE namespace = :namespace AND name = :name
  AND used > 0 AND owner = :old AND waiters = 0 AND told = 0 AND evicted = 0 AND capacity = :capacity
  AND free_us > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
  AND GREATEST(closed_us, shut_us) <= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
  AND GREATEST(last_token + 1, :token_floor) <= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + 1000000 - :tokens
  AND (SELECT expires_us FROM mortise_session WHERE id = :session) > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
