-- A new session.
-- :session; :beat; :expires_us = end of its first TTL; :ttl_us; :client = for people
INSERT INTO mortise_session (id, beat, expires_us, ttl_us, client) VALUES (:session, :beat, :expires_us, :ttl_us, :client)
