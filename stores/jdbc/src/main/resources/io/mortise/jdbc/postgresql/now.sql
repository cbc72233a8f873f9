-- The database's clock, in microseconds since 1970.
-- Returns one number.
SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)
