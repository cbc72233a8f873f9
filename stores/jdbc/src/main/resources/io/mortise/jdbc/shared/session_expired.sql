-- Sessions to be swept.
-- :now_us = store clock; :row_limit
SELECT id FROM mortise_session WHERE expires_us <= :now_us LIMIT :row_limit
