-- The database's clock, in microseconds since 1970, as it was when the transaction began.
-- Returns one number.
SELECT CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)
