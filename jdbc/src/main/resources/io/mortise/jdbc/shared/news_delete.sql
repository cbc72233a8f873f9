-- Forgets one piece of news that the session knows.
-- :session; :id
DELETE FROM mortise_news WHERE session = :session AND id = :id
