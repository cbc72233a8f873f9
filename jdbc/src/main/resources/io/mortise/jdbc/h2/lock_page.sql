-- Locks in order of name.
-- :namespace; :from_name = first name; CAST(:idle AS INTEGER) = 1 to show those that are free too; :now_us; :row_limit
SELECT * FROM mortise_lock
WHERE namespace = :namespace AND name >= :from_name
  AND (CAST(:idle AS INTEGER) = 1 OR used > 0 OR waiters > 0 OR closed_us > :now_us)
ORDER BY name LIMIT :row_limit
