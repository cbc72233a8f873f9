-- The most urgent notifications of a session, oldest first. Reads all of its news, of which there is more than one step tells: at
-- most two for each hold, and the ended holds.
-- :session; :row_limit
SELECT * FROM mortise_news WHERE session = :session AND kind = 'gone' ORDER BY id LIMIT :row_limit
