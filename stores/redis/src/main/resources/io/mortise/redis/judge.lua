-- Tells whether a session has ended.
--
-- KEYS[1] = the session: <prefix>s:<session>; with strict expiry its beat: <prefix>b:<session>
-- ARGV[1] = 'whole' to return the whole TTL instead of the remaining time
--
-- Returns nothing if it has ended. That is for ever, since a renewal creates a session only while the first renewal may be in
-- flight. Else returns <beat 16><ms left, or TTL 16>.
--
-- Atomic because Redis runs one script at a time. Expiry is by the server's clock. Lowest server version: 6.2.

local session = redis.call('GET', KEYS[1])
if not session then
  -- A replica refuses this write. It must not judge, as renewals reach it late.
  redis.call('DEL', KEYS[1])
  return false
end
if ARGV[1] then
  return string.sub(session, 1, 32)
end
return string.sub(session, 1, 16) .. math.max(1, redis.call('PTTL', KEYS[1]))
