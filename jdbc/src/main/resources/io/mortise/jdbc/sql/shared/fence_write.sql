-- Installs a token; the row is locked. ? = token, holder, name
UPDATE mortise_fence SET token = ?, holder = ? WHERE name = ?
