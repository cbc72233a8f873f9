-- The fence of a lock, locked until the transaction ends. ? = name
-- Returns token, holder.
SELECT token, holder FROM mortise_fence WHERE name = ? FOR UPDATE
