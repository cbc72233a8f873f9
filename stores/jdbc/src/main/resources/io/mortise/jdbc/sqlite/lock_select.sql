-- The row of one lock. The transaction holds the file's write lock, so nobody else decides meanwhile.
-- :namespace :name = the lock
SELECT * FROM mortise_lock WHERE namespace = :namespace AND name = :name
