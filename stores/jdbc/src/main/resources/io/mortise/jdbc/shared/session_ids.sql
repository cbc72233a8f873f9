-- Sessions after the one where the last look ended.
-- :after_id; :row_limit
SELECT id FROM mortise_session WHERE id > :after_id ORDER BY id LIMIT :row_limit
