-- Whether this very server process has the advisory lock; behind a pooler it may be another one. ? = key
-- Returns true or false.
SELECT EXISTS (
  SELECT 1
  FROM pg_locks
  WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) = ?)
