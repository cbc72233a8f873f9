-- Renews a session, or creates it: a compare-and-set of its beat.
--
-- KEYS[1] = the session: <prefix>s:<session>
-- ARGV[1] = previous beat (16 digits, 0s for the first renewal)
-- ARGV[2] = next beat (16 digits)
-- ARGV[3] = TTL (ms, 16 digits)
-- ARGV[4] = label of the client
--
-- Returns the server's time (µs, text) if renewed; 'E' if the session expired, 'O' if another process renews it.
--
-- Atomic because Redis runs one script at a time. One key only; PEXPIRE comes first since a full server allows it, and
-- allows every write after it: full memory must not end sessions. Expiry is by the server's clock (PX).
-- Lowest server version: 6.2.

local session = redis.call('GET', KEYS[1])
local time = redis.call('TIME')
if session then
  local beat = string.sub(session, 1, 16)
  if beat ~= ARGV[1] and beat ~= ARGV[2] then
    return 'O'
  end
  redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[3]))
elseif ARGV[1] ~= '0000000000000000' then
  return 'E'
end
redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3] .. ARGV[4], 'PX', tonumber(ARGV[3]))
return string.format('%.0f', time[1] * 1000000 + time[2])
