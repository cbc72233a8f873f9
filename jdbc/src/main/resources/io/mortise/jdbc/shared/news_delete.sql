-- Forgets news that the session knows.
-- :session; :ids = of the news
DELETE FROM mortise_news WHERE session = :session AND id IN (:ids...)
