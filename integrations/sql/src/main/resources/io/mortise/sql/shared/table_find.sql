-- Fails if a table is missing. {table} = one of Mortise's tables
SELECT name FROM {table} WHERE 1 = 0
