-- Makes the row of a lock, before any token, and takes the file's write lock either way. ? = name
INSERT INTO mortise_fence (name, token, holder) VALUES (?, 0, '') ON CONFLICT DO NOTHING
