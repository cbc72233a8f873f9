-- Fails if a table is missing. {table} = which of Mortise's
SELECT name FROM {table} WHERE 1 = 0
