-- Lets a holder of the key's lock try, unless it was done or a later holder was let. One statement, hence atomic.
-- ? = token, holder, name, token, token, holder
UPDATE mortise_once
SET done = 0, token = ?, holder = ?
WHERE name = ?
  AND (token < ? OR (token = ? AND holder = ?))
  AND (done = 0 OR (expires_us > 0 AND expires_us <= {now_us}))
