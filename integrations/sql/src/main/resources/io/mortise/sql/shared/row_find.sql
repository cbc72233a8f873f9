-- Whether a row exists. {table} = one of Mortise's tables; ? = name
SELECT 1 FROM {table} WHERE name = ?
