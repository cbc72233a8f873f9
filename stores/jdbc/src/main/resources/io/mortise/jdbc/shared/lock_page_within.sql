-- As lock_page.sql, up to a name.
-- :namespace; :from_name = first name; :end_name = the first name behind; :open_us, :row_limit as there
SELECT * FROM mortise_lock
WHERE namespace = :namespace AND name >= :from_name AND name < :end_name
  AND (used > 0 OR waiters > 0 OR closed_us > :open_us)
ORDER BY name LIMIT :row_limit
