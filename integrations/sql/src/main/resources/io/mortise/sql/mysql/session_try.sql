-- Takes a named lock for the connection if it is free. ? = key. Returns 1, or 0.
SELECT GET_LOCK(?, 0)
