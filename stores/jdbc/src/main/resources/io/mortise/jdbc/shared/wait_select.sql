-- The place of one attempt in the queue.
-- :namespace :name :attempt
SELECT * FROM mortise_wait WHERE namespace = :namespace AND name = :name AND attempt = :attempt
