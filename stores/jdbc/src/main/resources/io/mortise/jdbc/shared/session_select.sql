-- One session, dead or alive.
-- :session
SELECT beat, expires_us, ttl_us, client FROM mortise_session WHERE id = :session
