-- The time at the beginning of the statement, in microseconds since 1970; no time zone is involved.
TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))
