-- Leaves the queue.
-- :namespace :name :attempt
DELETE FROM mortise_wait WHERE namespace = :namespace AND name = :name AND attempt = :attempt
