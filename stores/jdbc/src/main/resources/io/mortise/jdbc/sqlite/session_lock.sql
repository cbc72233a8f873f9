-- One session, dead or alive. The transaction holds the file's write lock, so nobody renews it meanwhile.
-- :session
SELECT beat, expires_us, ttl_us, client FROM mortise_session WHERE id = :session
