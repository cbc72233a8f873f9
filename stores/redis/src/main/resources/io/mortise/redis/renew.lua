-- Renews a session, or creates it: a compare-and-set of its beat. Then returns its notifications, without those seen.
--
-- KEYS[1] = the session: <prefix>s:<session>
-- KEYS[2] = its notifications: <prefix>n:<session>
-- ARGV[1] = previous beat (16 digits, 0s for the first renewal)
-- ARGV[2] = next beat (16 digits)
-- ARGV[3] = TTL from now on (ms, 16 digits), also if that is less than is left
-- ARGV[4] = label of the client
-- ARGV[5] = deadline (µs since 1970 by the server's clock): no session is created after it
-- ARGV[6] = the beat that was confirmed before the previous one (16 digits, 0s if none)
-- ARGV[7] = the server's replication id when it confirmed the previous beat; may be empty
-- ARGV[8] = with strict expiry, the session's beat, which never expires: <prefix>b:<session>; else empty
-- ARGV[9] = '1' if the process listens to the session's inbox now, as the server has confirmed; else '0'. A hand-off checks
--           it (see lock.lua)
-- ARGV[10…] = ids of notifications that were seen
--
-- Returns a list. If renewed: the server's time (µs, text), its replication id (which changes when it restarts or is
-- promoted; '' if it does not tell), then up to 65 texts <id, 17 with its sign><notification> (see lock.lua). They are in
-- the order of ids, which puts lost holds first; the 65th only says that more is left. Else one text: 'E' if there is no
-- such session, and then the server's replication id; 'O' if another process renews it; or 'L' and the server's time if the
-- request came too late to create it, since an ended session would come to life again.
--
-- Atomic because Redis runs one script at a time. PEXPIRE comes first since a full server allows it, and allows every
-- write after it: full memory must not end sessions. Nor must a key of another type: it is passed over.
-- Expiry is by the server's clock (PX). Lowest server version: 6.2.

-- Read in this step, so that the id belongs to the server that renews.
local info = redis.pcall('INFO', 'replication')
local memory = type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or ''
local truth = ARGV[8] ~= '' and ARGV[8] or KEYS[1]
local session = redis.call('GET', truth)
local time = redis.call('TIME')
if session then
  local beat = string.sub(session, 1, 16)
  -- A promoted replica may have missed the last renewal: then it has the beat before.
  if beat ~= ARGV[1] and beat ~= ARGV[2] and not (beat == ARGV[6] and memory ~= ARGV[7]) then
    return { 'O' }
  end
  redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[3]))
elseif ARGV[1] ~= '0000000000000000' then
  -- A replica refuses this write; it may learn of the session a little later.
  redis.call('DEL', KEYS[1])
  return { 'E', memory }
elseif time[1] * 1000000 + time[2] > tonumber(ARGV[5]) then
  return { 'L', string.format('%.0f', time[1] * 1000000 + time[2]) }
end
local text = ARGV[2] .. ARGV[3] .. ARGV[9] .. ARGV[4]
redis.call('SET', KEYS[1], text, 'PX', tonumber(ARGV[3]))
if truth ~= KEYS[1] then
  redis.call('SET', truth, text)
end

for i = 10, #ARGV do
  redis.pcall('ZREMRANGEBYSCORE', KEYS[2], ARGV[i], ARGV[i])
end
local answer = { string.format('%.0f', time[1] * 1000000 + time[2]), memory }
local told = redis.pcall('ZRANGE', KEYS[2], 0, 64, 'WITHSCORES')
for i = 1, #told, 2 do
  answer[#answer + 1] = string.format('%+017.0f', told[i + 1]) .. told[i]
end
return answer
