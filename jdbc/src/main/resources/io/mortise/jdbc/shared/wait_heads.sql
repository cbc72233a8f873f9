-- The front of the queue.
-- :namespace :name; :row_limit
SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name ORDER BY ticket LIMIT :row_limit
