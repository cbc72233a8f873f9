-- Ends a session whose beat a client saw unchanged for its whole TTL, unless it has changed since.
--
-- KEYS[1] = the session's beat: <prefix>b:<session>
-- KEYS[2] = the session: <prefix>s:<session>
-- KEYS[3] = its notifications: <prefix>n:<session>
-- ARGV[1] = that beat (16 digits)
--
-- Returns 1 if the session has ended, now or before; 0 if its beat has changed.
--
-- Atomic because Redis runs one script at a time: a renewal runs before, with another beat, or after, and finds no session.
-- No clock is read. DEL is allowed on a full server. Lowest server version: 6.2.

local session = redis.call('GET', KEYS[1])
if session and string.sub(session, 1, 16) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return 1
