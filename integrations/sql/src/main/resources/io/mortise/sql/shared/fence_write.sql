-- Installs a token, unless a later one was shown or the same by another holder; waits for others, and locks the row
-- until the transaction ends. ? = token, holder, name, token, token, holder
-- Writes a token that is there already as well: a successor whose snapshot is from before its wait is refused by the
-- database for a row that was written, not for one that was locked only.
-- Changes one row, or none: then the row is missing or the token is stale, or (MySQL, MariaDB) it was there already.
UPDATE mortise_fence
SET token = ?, holder = ?
WHERE name = ?
  AND (token < ? OR (token = ? AND holder = ?))
