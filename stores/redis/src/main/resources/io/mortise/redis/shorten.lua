-- Keeps the records of idle locks for no longer than that; what is held, waited for or shut stays as it is.
--
-- KEYS[i] = the record of a lock: <prefix>l:<name>; what lock.lua says of one more in a cluster holds here too
-- ARGV[1] = how long they are kept at most (ms)
--
-- Returns how many are kept for less long than before.
--
-- Atomic because Redis runs one script at a time. PEXPIRE is allowed on a full server. Lowest server version: 6.2.

local shortened = 0
for _, key in ipairs(KEYS) do
  if redis.pcall('GETRANGE', key, 0, 0) == '-' and redis.call('PTTL', key) > tonumber(ARGV[1]) then
    redis.call('PEXPIRE', key, ARGV[1])
    shortened = shortened + 1
  end
end
return shortened
