-- Shortens the retention of idle locks' records; locks with a holder or waiters, or shut ones, stay as they are.
--
-- KEYS[i] = the record of a lock: <prefix>l:<name>; in a cluster one more, which never exists (see lock.lua)
-- ARGV[1] = the longest retention (ms)
--
-- Returns how many records were shortened.
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
