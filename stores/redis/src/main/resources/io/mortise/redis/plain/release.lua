-- Deletes a key if it has this value: the compare-and-delete of the published lock.
--
-- KEYS[1] = the lock
-- ARGV[1] = the value of the hold
--
-- Returns 1 if it was deleted, 0 if the lock is free or another's. A key of another type is another's.
--
-- Atomic because Redis runs one script at a time. DEL is allowed on a full server. Lowest server version: 2.6.

local value = redis.pcall('GET', KEYS[1])
if value == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
