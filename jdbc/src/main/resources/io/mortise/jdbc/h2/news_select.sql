-- The news of a session, oldest first.
-- :session; :row_limit
SELECT * FROM mortise_news WHERE session = :session ORDER BY id LIMIT :row_limit
