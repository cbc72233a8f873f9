-- Raises the token; the row is locked. The clock keeps tokens of transactions that were rolled back from coming again.
-- ? = name
UPDATE mortise_txlock SET token = GREATEST(token + 1, {now_us}) WHERE name = ?
