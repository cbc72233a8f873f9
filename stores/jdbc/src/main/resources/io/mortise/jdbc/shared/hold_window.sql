-- The holds to look at next.
-- :namespace :name; :row_limit
SELECT * FROM mortise_hold WHERE namespace = :namespace AND name = :name ORDER BY place LIMIT :row_limit
