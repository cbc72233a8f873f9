-- Writes a row of a user's table, unless it has seen a later token or the same from another holder.
-- {table} {keys} = the row; {assignments} = the columns to write, each with a comma; {token} {holder} = the fence
-- ? = the values in order of appearance: assignments, token, holder, keys, token, token, holder
-- Changes one row, or none: then the row is missing or the token is stale.
UPDATE {table}
SET {assignments}{token} = ?, {holder} = ?
WHERE {keys}
  AND ({token} IS NULL OR {token} < ? OR ({token} = ? AND {holder} = ?))
