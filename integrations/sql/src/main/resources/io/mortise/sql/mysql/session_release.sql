-- Releases a named lock. ? = key. Returns 1; 0 or null if the connection did not have it.
SELECT RELEASE_LOCK(?)
