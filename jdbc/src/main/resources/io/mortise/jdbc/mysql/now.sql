-- The database's clock at this moment, in microseconds since 1970. The session's time zone is UTC, so that no hour comes twice.
-- Returns one number.
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
