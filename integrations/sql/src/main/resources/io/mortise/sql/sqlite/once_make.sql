-- Makes the row of a key that is not done, and takes the file's write lock either way. ? = name
INSERT INTO mortise_once (name, done, result, done_us, expires_us) VALUES (?, 0, NULL, 0, 0)
ON CONFLICT DO NOTHING
