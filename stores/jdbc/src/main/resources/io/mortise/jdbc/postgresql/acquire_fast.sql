-- Grants a whole lock that is free and that nobody waits for. One statement, hence atomic; after a wait for
-- the row, its conditions are checked again on the newest version.
-- :namespace :name = the lock; :attempt :session = who; :capacity = of the lock, all of it is taken
-- :tokens :token_floor = block wished for, least token
-- :at_most_us :at_least_us = lengths, -1 for none; :label = for people
-- Time: clock_timestamp(), now; CURRENT_TIMESTAMP would be the start of the transaction.
-- Returns token, tokens; no row: the slow path decides.
UPDATE mortise_lock
SET owner      = :attempt,
    used       = capacity,
    token      = greatest(last_token + 1, t.us, :token_floor),
    tokens     = least(:tokens, greatest(1, t.us + 1000000 - greatest(last_token + 1, t.us, :token_floor))),
    last_token = greatest(last_token + 1, t.us, :token_floor) - 1
               + least(:tokens, greatest(1, t.us + 1000000 - greatest(last_token + 1, t.us, :token_floor))),
    since_us   = t.us,
    free_us    = CASE WHEN :at_most_us < 0 THEN 9223372036854775807 ELSE t.us + :at_most_us END,
    shut_us    = CASE WHEN :at_least_us < 0 THEN 0 ELSE t.us + :at_least_us END,
    label      = :label,
    told       = 0,
    evicted    = 0,
    touched_us = t.us
FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS us) t
WHERE namespace = :namespace AND name = :name
  AND used = 0 AND waiters = 0 AND closed_us <= t.us AND capacity = :capacity
  AND ended IS DISTINCT FROM :attempt
  AND EXISTS (SELECT 1 FROM mortise_session WHERE id = :session AND expires_us > t.us)
RETURNING token, tokens
