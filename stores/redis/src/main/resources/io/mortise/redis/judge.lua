-- Tells whether a session has ended.
--
-- KEYS[1] = the session: <prefix>s:<session>; with strict expiry its beat: <prefix>b:<session>
-- ARGV[1] = 'whole' if the whole TTL is asked for, not what is left of it
--
-- Returns nothing if it has ended, for ever, since a renewal creates a session only while the first one may be under way; else
-- <beat 16><ms that it lives yet, or TTL 16>.
--
-- Atomic because Redis runs one script at a time. Expiry is by the server's clock. Lowest server version: 6.2.

local session = redis.call('GET', KEYS[1])
if not session then
  -- Refused by a replica, which must not judge: renewals reach it late.
  redis.call('DEL', KEYS[1])
  return false
end
if ARGV[1] then
  return string.sub(session, 1, 32)
end
return string.sub(session, 1, 16) .. math.max(1, redis.call('PTTL', KEYS[1]))
