-- Restarts the expiry of each lock of the hash layout that has its field.
--
-- KEYS[1…] = the locks
-- ARGV[1] = TTL (ms)
-- ARGV[2…] = the field of the hold of each
--
-- Returns for each key 1 if it was extended, 0 if the lock is free or another's.
--
-- Atomic because Redis runs one script at a time. PEXPIRE is allowed on a full server. Expiry is by the server's clock.
-- Lowest server version: 2.6.

local answer = {}
for i = 1, #KEYS do
  local there = redis.pcall('HEXISTS', KEYS[i], ARGV[i + 1])
  answer[i] = there == 1 and redis.call('PEXPIRE', KEYS[i], ARGV[1]) or 0
end
return answer
