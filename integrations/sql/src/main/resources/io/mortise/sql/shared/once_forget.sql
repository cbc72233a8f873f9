-- Not done after all. ? = name
UPDATE mortise_once SET done = 0, result = NULL WHERE name = ? AND done = 1
