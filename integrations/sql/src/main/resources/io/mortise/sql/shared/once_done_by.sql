-- Done, and what came of it, unless a later holder was let try. One statement, hence atomic.
-- ? = result, microseconds that it counts (0: for ever), twice; name, token, holder
UPDATE mortise_once
SET done = 1, result = ?, done_us = {now_us}, expires_us = CASE WHEN ? = 0 THEN 0 ELSE {now_us} + ? END
WHERE name = ? AND token = ? AND holder = ? AND done = 0
