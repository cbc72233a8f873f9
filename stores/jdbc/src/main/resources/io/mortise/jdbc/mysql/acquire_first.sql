-- Takes a whole lock that has no row yet; one statement, which commits by itself. The new row equals the result of acquire_fast
-- on a forgotten lock.
-- :namespace :name = the lock; :attempt :session = who; :capacity = of the lock, all of it is taken
-- :tokens :token_floor = block wished for, least token
-- :at_most_us :at_least_us = lengths, -1 for none; :label = for people
-- Adds one row, and gives the token as the key that it generates; or none: there is one, or the session is not alive, or the
-- whole block would lead the clock by more than a second.
INSERT IGNORE INTO mortise_lock (namespace, name, capacity, used, owner, token, tokens, since_us, free_us, shut_us, label,
  told, evicted, last_token, next_place, next_ticket, waiters, closed_us, touched_us, ended, ended_was, ended_how)
SELECT :namespace, :name, :capacity, :capacity, :attempt, LAST_INSERT_ID(GREATEST(t.us, :token_floor)), :tokens, t.us,
  IF(:at_most_us < 0, 9223372036854775807, t.us + :at_most_us), IF(:at_least_us < 0, 0, t.us + :at_least_us), :label,
  0, 0, GREATEST(t.us, :token_floor) + :tokens - 1, 0, 0, 0, 0, t.us, NULL, 'HELD', 'RELEASED'
FROM (SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED) AS us) t
STRAIGHT_JOIN mortise_session p ON p.id = :session AND p.expires_us > t.us
WHERE GREATEST(t.us, :token_floor) <= t.us + 1000000 - :tokens
