-- Begins a transaction, and reads the database's clock in the same text.
-- Returns one number, in microseconds since 1970, and whether the server is read-only, which some users may write to all the same.
START TRANSACTION;
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED), CAST(@@GLOBAL.read_only AS CHAR) NOT IN ('0', 'OFF')
