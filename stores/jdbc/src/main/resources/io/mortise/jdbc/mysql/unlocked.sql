-- Fails at once if somebody else keeps the row of a lock locked; any other statement would wait for it for a second.
-- :namespace :name = the lock
SELECT 1 FROM mortise_lock WHERE namespace = :namespace AND name = :name FOR UPDATE NOWAIT
