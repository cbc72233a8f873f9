-- Some sessions, dead or alive.
-- :ids = theirs
SELECT id, beat, expires_us, ttl_us, client FROM mortise_session WHERE id IN (:ids...)
