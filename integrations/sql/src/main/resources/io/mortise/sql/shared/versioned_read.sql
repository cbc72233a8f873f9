-- The version of a row of a user's table, after an update that wrote nothing. ? = the keys
-- Returns one number; no row if it is missing.
SELECT {version} FROM {table} WHERE {keys}
