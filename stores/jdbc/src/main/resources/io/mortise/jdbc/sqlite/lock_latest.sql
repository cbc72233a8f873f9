-- The latest moment at which any lock was used.
SELECT coalesce(max(touched_us), 0) FROM mortise_lock
