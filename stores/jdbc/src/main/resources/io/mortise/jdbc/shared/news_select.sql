-- The news of a session, oldest first. Kinds of a newer version, none of which tells a loss, stay until the session ends.
-- :session; :after = only those with a greater id; :row_limit
SELECT * FROM mortise_news WHERE session = :session AND id > :after AND kind IN ('granted', 'wanted', 'gone')
ORDER BY id LIMIT :row_limit
