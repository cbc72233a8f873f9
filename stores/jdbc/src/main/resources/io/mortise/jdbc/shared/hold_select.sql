-- The hold of one attempt.
-- :namespace :name :attempt
SELECT * FROM mortise_hold WHERE namespace = :namespace AND name = :name AND attempt = :attempt
