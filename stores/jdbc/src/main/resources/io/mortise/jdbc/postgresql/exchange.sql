-- Releases a whole lock that nobody waits for, and takes it again for another attempt of the same process: abandon_fast and
-- acquire_fast in one statement, hence one commit.
-- :namespace :name = the lock; :old = who releases; :attempt :session = who takes; :capacity = of the lock, all of it is taken
-- :tokens :token_floor = block wished for, least token
-- :at_most_us :at_least_us = lengths, -1 for none; :label = for people
-- Time: clock_timestamp(), now.
-- Returns token, tokens; no row: nothing was changed, and the two are to be done one after the other.
UPDATE mortise_lock
SET owner      = :attempt,
    token      = greatest(last_token + 1, t.us, :token_floor),
    tokens     = least(:tokens, greatest(1, t.us + 1000000 - greatest(last_token + 1, t.us, :token_floor))),
    last_token = greatest(last_token + 1, t.us, :token_floor) - 1
               + least(:tokens, greatest(1, t.us + 1000000 - greatest(last_token + 1, t.us, :token_floor))),
    since_us   = t.us,
    free_us    = CASE WHEN :at_most_us < 0 THEN 9223372036854775807 ELSE t.us + :at_most_us END,
    shut_us    = CASE WHEN :at_least_us < 0 THEN 0 ELSE t.us + :at_least_us END,
    closed_us  = greatest(closed_us, shut_us),
    label      = :label,
    touched_us = t.us,
    ended      = :old,
    ended_was  = 'HELD',
    ended_how  = 'RELEASED'
FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us) t
WHERE namespace = :namespace AND name = :name
  AND owner = :old AND waiters = 0 AND told = 0 AND evicted = 0 AND free_us > t.us
  AND greatest(closed_us, shut_us) <= t.us AND capacity = :capacity
  AND EXISTS (SELECT 1 FROM mortise_session WHERE id = :session AND expires_us > t.us)
RETURNING token, tokens
