-- Forgets that a hold was granted, or wanted: it has ended.
-- :attempt
DELETE FROM mortise_news WHERE attempt = :attempt AND kind <> 'gone'
