-- The fence of a row of a user's table, after an update that wrote nothing. ? = the keys
-- Returns token, holder; no row if it is missing. Locks the row, since a plain read may show an older state
-- than the update met.
SELECT {token}, {holder} FROM {table} WHERE {keys} LOCK IN SHARE MODE
