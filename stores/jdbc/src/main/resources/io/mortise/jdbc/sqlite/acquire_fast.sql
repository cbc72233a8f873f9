-- Grants a whole lock that is free and that nobody waits for. One statement, hence atomic.
-- :namespace :name = the lock; :attempt :session = who; :capacity = of the lock, all of it is taken
-- :tokens :token_floor = block wished for, least token
-- :free_us :shut_us = ends of the at-most and at-least times; :label = for people; :now_us = host clock
-- Returns token, tokens; no row: the slow path decides.
UPDATE mortise_lock
SET owner      = :attempt,
    used       = capacity,
    token      = max(last_token + 1, :now_us, :token_floor),
    tokens     = min(:tokens, max(1, :now_us + 1000000 - max(last_token + 1, :now_us, :token_floor))),
    last_token = max(last_token + 1, :now_us, :token_floor) - 1
               + min(:tokens, max(1, :now_us + 1000000 - max(last_token + 1, :now_us, :token_floor))),
    since_us   = :now_us,
    free_us    = :free_us,
    shut_us    = :shut_us,
    label      = :label,
    told       = 0,
    evicted    = 0,
    touched_us = :now_us
WHERE namespace = :namespace AND name = :name
  AND used = 0 AND waiters = 0 AND closed_us <= :now_us AND capacity = :capacity
  AND ended IS DISTINCT FROM :attempt
  AND EXISTS (SELECT 1 FROM mortise_session WHERE id = :session AND expires_us > :now_us)
RETURNING token, tokens
