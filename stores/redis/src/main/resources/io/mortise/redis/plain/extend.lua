-- Restarts the expiry of each key that has its value: the compare-and-extend of the published lock, for many at a time.
--
-- KEYS[1…] = the locks
-- ARGV[1] = TTL (ms)
-- ARGV[2…] = the value of the hold of each
--
-- Returns for each key 1 if it was extended, 0 if the lock is free or another's.
--
-- Atomic because Redis runs one script at a time. PEXPIRE is allowed on a full server, where SET is not. Expiry is by the
-- server's clock. Lowest server version: 2.6.

local answer = {}
for i = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[i])
  answer[i] = value == ARGV[i + 1] and redis.call('PEXPIRE', KEYS[i], ARGV[1]) or 0
end
return answer
