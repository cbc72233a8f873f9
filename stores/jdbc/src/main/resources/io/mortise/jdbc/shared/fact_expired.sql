-- Names whose texts are kept no longer.
-- :namespace; :now_us = store clock; :row_limit = how many
SELECT name FROM mortise_fact WHERE namespace = :namespace AND expires_us <= :now_us ORDER BY expires_us LIMIT :row_limit
