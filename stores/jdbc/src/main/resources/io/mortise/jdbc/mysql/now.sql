-- The database's clock at this moment, in microseconds since 1970. The session's time zone is UTC, so that no hour comes twice.
-- Returns one number, and whether the server is read-only, which some users may write to all the same.
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED), CAST(@@GLOBAL.read_only AS CHAR) NOT IN ('0', 'OFF')
