-- Ends a session; hands nothing over.
--
-- KEYS[1] = the session: <prefix>s:<session>
-- KEYS[2] = its notifications: <prefix>n:<session>
--
-- Returns how many of the two keys existed.
--
-- Atomic because Redis runs one script at a time. DEL is allowed on a full server. Lowest server version: 6.2.

return redis.call('DEL', KEYS[1], KEYS[2])
