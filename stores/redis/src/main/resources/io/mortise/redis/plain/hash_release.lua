-- Releases a lock of the hash layout, and notifies waiters as their clients expect it.
--
-- KEYS[1] = the lock
-- KEYS[2] = the channel of its waiters
-- ARGV[1] = the field of the hold
--
-- Returns 1 if it was released, 0 if the lock is free or another's. A key of another type is another's.
--
-- Atomic because Redis runs one script at a time. DEL is allowed on a full server. Lowest server version: 2.6.

if redis.pcall('HEXISTS', KEYS[1], ARGV[1]) ~= 1 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '0')
return 1
