-- A new session.
-- :session; :beat; :expires_us = end of its first TTL; :ttl_us = as of the column; :client = for people
INSERT INTO mortise_session (id, beat, expires_us, ttl_us, client) VALUES (:session, :beat, :expires_us, :ttl_us, :client)
