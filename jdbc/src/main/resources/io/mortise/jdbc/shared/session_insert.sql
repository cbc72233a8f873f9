-- A new session.
-- :session; :beat; :expires_us = end of its first TTL; :client = for people
INSERT INTO mortise_session (id, beat, expires_us, client) VALUES (:session, :beat, :expires_us, :client)
