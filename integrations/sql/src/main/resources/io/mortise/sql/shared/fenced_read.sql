-- The fence of a row of a user's table, after an update that wrote nothing. ? = the keys
-- Returns token, holder; no row if it is missing.
SELECT {token}, {holder} FROM {table} WHERE {keys}
