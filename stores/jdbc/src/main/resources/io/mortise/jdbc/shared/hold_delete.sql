-- Ends a hold.
-- :namespace :name :attempt
DELETE FROM mortise_hold WHERE namespace = :namespace AND name = :name AND attempt = :attempt
