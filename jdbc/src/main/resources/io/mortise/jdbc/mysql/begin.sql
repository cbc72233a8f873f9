-- Begins a transaction, and reads the database's clock in the same text.
-- Returns one number, in microseconds since 1970.
START TRANSACTION;
SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)
