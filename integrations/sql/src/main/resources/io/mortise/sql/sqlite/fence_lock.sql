-- The fence of a lock; fence_make has taken the file's write lock before. ? = name
-- Returns token, holder.
SELECT token, holder FROM mortise_fence WHERE name = ?
