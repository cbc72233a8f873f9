-- Marks a key as done, with its result; the row is locked. ? = result, microseconds that it counts (0: for ever), twice; name
UPDATE mortise_once
SET done = 1, result = ?, done_us = {now_us}, expires_us = CASE WHEN ? = 0 THEN 0 ELSE {now_us} + ? END
WHERE name = ?
