-- Reads the text under a name, or replaces it if its version is the expected one.
--
-- KEYS[1] = the text: <prefix>f:<name>, beside plain locks <prefix>mortise:fact:<name>, holding <version 16><text>
-- ARGV    = nothing to read it; else
-- ARGV[1] = the expected version, 0 for no text
-- ARGV[2] = the new text
-- ARGV[3] = how long it is kept (ms)
--
-- Returns the key's value, or nothing; for a replacement the new version, or 0 if the version differs and nothing was changed.
-- A version is the server's time in microseconds, or one more than the previous version: it is never reused after the key
-- has gone.
--
-- Atomic because Redis runs one script at a time. Expiry (PX) is by the server's clock. Lowest server version: 6.2.

local present = redis.call('GET', KEYS[1])
if not ARGV[1] then
  if not present then
    -- A replica refuses this write; it may not have the text yet.
    redis.call('DEL', KEYS[1])
  end
  return present
end
local version = present and tonumber(string.sub(present, 1, 16)) or 0
if version ~= tonumber(ARGV[1]) then
  return '0'
end
local time = redis.call('TIME')
local next = string.format('%016.0f', math.max(version + 1, time[1] * 1000000 + time[2]))
redis.call('SET', KEYS[1], next .. ARGV[2], 'PX', ARGV[3])
return next
