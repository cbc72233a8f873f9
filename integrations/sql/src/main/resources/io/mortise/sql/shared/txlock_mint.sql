-- Raises the token; the row is locked. The clock prevents the reuse of tokens that were rolled back.
-- ? = name
UPDATE mortise_txlock SET token = GREATEST(token + 1, {now_us}) WHERE name = ?
