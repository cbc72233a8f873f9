-- Writes a row of a user's table if it still has the version that was read.
-- {table} {keys} = which row; {assignments} = what to write, each with a comma; {version} = the column
-- ? = the values in order of appearance: assignments, keys, version
-- Changes one row, or none: then the row is missing or has another version.
UPDATE {table}
SET {assignments}{version} = {version} + 1
WHERE {keys}
  AND {version} = ?
