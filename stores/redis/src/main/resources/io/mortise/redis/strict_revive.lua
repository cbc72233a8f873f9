-- Restores the expiring key of a session whose beat still exists, so that the server's clock counts it as alive again.
--
-- KEYS[1] = the session's beat: <prefix>b:<session>
-- KEYS[2] = the session: <prefix>s:<session>
--
-- Returns 1 if the session lives, 0 if it has ended for ever.
--
-- Atomic because Redis runs one script at a time. PERSIST comes first since a full server allows it, and allows every write
-- after it. Lowest server version: 6.2.

local session = redis.call('GET', KEYS[1])
if not session then
  return 0
end
redis.call('PERSIST', KEYS[1])
redis.call('SET', KEYS[2], session, 'PX', tonumber(string.sub(session, 17, 32)))
return 1
