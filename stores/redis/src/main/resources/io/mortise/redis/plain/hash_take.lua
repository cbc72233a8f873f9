-- Takes a lock of the hash layout: a hash with one field, the holder, whose value counts its entries. We enter once, since
-- re-entry is counted in the process.
--
-- KEYS[1] = the lock
-- ARGV[1] = TTL (ms)
-- ARGV[2] = the field of the hold
--
-- Returns 1 if it was taken, 0 if it is held.
--
-- Atomic because Redis runs one script at a time. Expiry is by the server's clock. Lowest server version: 2.6.

if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
