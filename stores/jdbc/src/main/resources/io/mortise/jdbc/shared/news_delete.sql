-- Forgets news that the session knows. Of a renewal that was refused, as that of a clone is, the session's beat is another.
-- :session; :ids = of the news; :beat = that of the renewal which says so
DELETE FROM mortise_news WHERE session = :session AND id IN (:ids...)
  AND EXISTS (SELECT 1 FROM mortise_session WHERE id = :session AND beat = :beat)
