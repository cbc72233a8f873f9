-- Locks in order of name.
-- :namespace; :from_name = first name; :open_us = store clock, or -1 to show those that are free too; :row_limit
SELECT * FROM mortise_lock
WHERE namespace = :namespace AND name >= :from_name
  AND (used > 0 OR waiters > 0 OR closed_us > :open_us)
ORDER BY name LIMIT :row_limit
