-- Takes an advisory lock for the connection if it is free. ? = key. Returns true or false.
SELECT pg_try_advisory_lock(?)
