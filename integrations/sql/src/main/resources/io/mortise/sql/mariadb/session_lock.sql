-- Takes a named lock for the connection. ? = key, seconds to wait. Returns 1, or 0 if the time is over.
SELECT GET_LOCK(?, ?)
