-- Makes the row of a key that is not done. ? = name
INSERT INTO mortise_once (name, done, result, done_us, expires_us) VALUES (?, 0, NULL, 0, 0)
