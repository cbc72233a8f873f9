-- Whether a row is there. {table} = which of Mortise's tables; ? = name
SELECT 1 FROM {table} WHERE name = ?
