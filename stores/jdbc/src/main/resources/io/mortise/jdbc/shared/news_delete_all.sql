-- Forgets the news of a session that has ended.
-- :session
DELETE FROM mortise_news WHERE session = :session
