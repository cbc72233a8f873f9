-- Takes an advisory lock for the connection; waits as long as lock_timeout says, then error 55P03. ? = key
SELECT pg_advisory_lock(?)
