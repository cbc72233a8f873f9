-- Sessions in order of id, dead or alive, of all namespaces.
-- :from_id = first id; :row_limit
SELECT id, beat, expires_us, ttl_us, client FROM mortise_session WHERE id >= :from_id ORDER BY id LIMIT :row_limit
