-- Releases an advisory lock. ? = key. Returns false if the connection did not have it.
SELECT pg_advisory_unlock(?)
