-- Leaves news for a session that lives.
-- :session; :kind = granted, wanted or gone; :name :attempt; :token :tokens :flag :timed = of a grant; :how = of an end; :now_us
INSERT INTO mortise_news (session, kind, name, attempt, token, tokens, flag, timed, how)
SELECT CAST(:session AS VARCHAR), CAST(:kind AS VARCHAR), CAST(:name AS VARCHAR), CAST(:attempt AS VARCHAR),
  CAST(:token AS BIGINT), CAST(:tokens AS BIGINT), CAST(:flag AS BIGINT), CAST(:timed AS BIGINT), CAST(:how AS VARCHAR)
WHERE EXISTS (SELECT 1 FROM mortise_session WHERE id = :session AND expires_us > :now_us)
