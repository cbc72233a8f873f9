-- The fence of a lock, as last committed. ? = name
-- Returns token.
SELECT token FROM mortise_fence WHERE name = ?
