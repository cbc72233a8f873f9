-- What became of locks that together_known has taken or released. Who was served is found by the attempt: an attempt that holds, or
-- was the last to end, stays so until its own process asks for something else, or somebody waits or evicts.
-- :namespace; :names, :capacity = as there
-- Returns of each the attempt that holds it, token, tokens; or the attempt that was the last to release it, 0, 0.
SELECT IF(used > 0, owner, ended), IF(used > 0, token, 0), IF(used > 0, tokens, 0)
FROM mortise_lock
WHERE namespace = :namespace AND name IN (:names...) AND waiters = 0 AND told = 0 AND evicted = 0
  AND IF(used > 0, capacity = :capacity AND free_us = 9223372036854775807, ended_was = 'HELD' AND ended_how = 'RELEASED')
