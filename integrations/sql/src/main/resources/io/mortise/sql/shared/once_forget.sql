-- Marks a key as not done. ? = name
UPDATE mortise_once SET done = 0, result = NULL WHERE name = ? AND done = 1
