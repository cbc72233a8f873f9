-- Forgets an idle lock.
-- :namespace :name = the lock
DELETE FROM mortise_lock WHERE namespace = :namespace AND name = :name
