-- Grants a whole lock that is free and that nobody waits for. One statement, which commits by itself.
-- Its time is that of the database with the row in hand: assignments run from left to right, so that touched_us, the first
-- of them, is the time in all that follow.
-- :namespace :name = the lock; :attempt :session = who; :capacity = of the lock, all of it is taken
-- :tokens :token_floor = block wished for, least token
-- :at_most_us :at_least_us = lengths, -1 for none; :label = for people
-- Changes one row, and gives the token as the key that it generates; or none: the slow path decides. It does so too where the
-- whole block would lead the clock by more than a second, since there is no way to tell of a smaller one.
UPDATE mortise_lock
SET touched_us = CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED),
    owner      = :attempt,
    used       = capacity,
    token      = LAST_INSERT_ID(GREATEST(last_token + 1, touched_us, :token_floor)),
    tokens     = :tokens,
    last_token = token + tokens - 1,
    since_us   = touched_us,
    free_us    = IF(:at_most_us < 0, 9223372036854775807, touched_us + :at_most_us),
    shut_us    = IF(:at_least_us < 0, 0, touched_us + :at_least_us),
    label      = :label,
    told       = 0,
    evicted    = 0
WHERE namespace = :namespace AND name = :name
  AND used = 0 AND waiters = 0 AND capacity = :capacity
  AND closed_us <= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
  AND NOT (ended <=> :attempt)
  AND GREATEST(last_token + 1, :token_floor) <= CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) + 1000000 - :tokens
  AND (SELECT expires_us FROM mortise_session WHERE id = :session) > CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
