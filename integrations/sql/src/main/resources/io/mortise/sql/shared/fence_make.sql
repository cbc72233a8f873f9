-- Makes the row of a lock, before any token. ? = name
INSERT INTO mortise_fence (name, token, holder) VALUES (?, 0, '')
