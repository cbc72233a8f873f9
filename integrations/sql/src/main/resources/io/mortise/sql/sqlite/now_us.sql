-- The time now, in microseconds since 1970, to the millisecond.
CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000
