-- The row of one lock. FOR UPDATE: nobody else decides meanwhile.
-- :namespace :name = the lock
SELECT * FROM mortise_lock WHERE namespace = :namespace AND name = :name
FOR UPDATE
