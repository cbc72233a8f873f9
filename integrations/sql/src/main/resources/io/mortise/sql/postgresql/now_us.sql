-- The time now (not at the beginning of the transaction), in microseconds since 1970.
CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)
