-- Leaves news for a session that lives.
-- :session; :kind = granted, wanted or gone; :name :attempt; :token :tokens :flag :timed = of a grant; :how = of an end; :now_us
INSERT INTO mortise_news (session, kind, name, attempt, token, tokens, flag, timed, how)
SELECT :session, :kind, :name, :attempt, :token, :tokens, :flag, :timed, :how
WHERE EXISTS (SELECT 1 FROM mortise_session WHERE id = :session AND expires_us > :now_us)
