-- Tells a session's news, oldest first, and forgets what was seen.
--
-- KEYS[1]  = the session's news: <prefix>n:<session>
-- ARGV[i]  = id of news that was seen (16 digits)
--
-- Returns up to 65 texts <id 16><news> (see lock.lua); the 65th only says that more is left.
--
-- Atomic because Redis runs one script at a time. LREM is allowed on a full server. Lowest server version: 6.2.

if #ARGV > 0 then
  local seen = {}
  for i = 1, #ARGV do
    seen[ARGV[i]] = true
  end
  local told = redis.call('LRANGE', KEYS[1], 0, #ARGV + 64)
  for i = 1, #told do
    if seen[string.sub(told[i], 1, 16)] then
      redis.call('LREM', KEYS[1], 1, told[i])
    end
  end
end
return redis.call('LRANGE', KEYS[1], 0, 64)
