-- The token of a lock that this transaction has. FOR UPDATE, as a plain read would begin MySQL's snapshot. ? = name
-- Returns token.
SELECT token FROM mortise_txlock WHERE name = ? FOR UPDATE
