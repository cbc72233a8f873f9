-- Returns whether the sessions of this namespace end by beats; makes them do so on request.
--
-- KEYS[1] = the mode: <prefix>mode
-- ARGV[1] = '1' if strict expiry is wanted
--
-- Returns 1 if sessions end by beats, 0 if they end by the server's clock.
--
-- Atomic because Redis runs one script at a time. The key does not expire. Lowest server version: 6.2.

if redis.call('GET', KEYS[1]) == 'strict' then
  return 1
elseif ARGV[1] == '1' then
  redis.call('SET', KEYS[1], 'strict')
  return 1
end
return 0
