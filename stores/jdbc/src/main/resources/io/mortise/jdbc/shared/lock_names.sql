-- Names after the one where the last sweep ended.
-- :namespace; :after_name; :row_limit
SELECT name FROM mortise_lock WHERE namespace = :namespace AND name > :after_name ORDER BY name LIMIT :row_limit
