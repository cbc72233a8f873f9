-- Whether this very connection has the named lock; behind a proxy it may be another one. ? = key
-- Returns 1, 0, or null if it is free.
SELECT IS_USED_LOCK(?) = CONNECTION_ID()
