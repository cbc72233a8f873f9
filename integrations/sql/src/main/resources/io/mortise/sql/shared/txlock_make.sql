-- Makes the row of a lock. ? = name
INSERT INTO mortise_txlock (name, token) VALUES (?, 0)
