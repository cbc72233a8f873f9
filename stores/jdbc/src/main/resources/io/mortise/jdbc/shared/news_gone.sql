-- What a session has to be told before all else, oldest first. Reads all of its news, of which there is more than one
-- step tells: at most two for each hold, and what has gone.
-- :session; :row_limit
SELECT * FROM mortise_news WHERE session = :session AND kind = 'gone' ORDER BY id LIMIT :row_limit
