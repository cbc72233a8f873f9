-- The news of a session, oldest first.
-- :session; :after = only those with a greater id; :row_limit
SELECT * FROM mortise_news WHERE session = :session AND id > :after ORDER BY id LIMIT :row_limit
