-- Installs a token, unless a later one was seen, or the same from another holder; waits for others, and locks the row
-- until the transaction ends. ? = token, holder, name, token, token, holder
-- Rewrites an equal token as well: the database refuses a successor with a snapshot from before its wait if the row was
-- written, not if it was only locked.
-- Changes one row, or none: then the row is missing or the token is stale, or (MySQL, MariaDB) it was installed already.
UPDATE mortise_fence
SET token = ?, holder = ?
WHERE name = ?
  AND (token < ? OR (token = ? AND holder = ?))
