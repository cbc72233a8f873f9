-- The time at the beginning of the transaction, in microseconds since 1970.
CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)
