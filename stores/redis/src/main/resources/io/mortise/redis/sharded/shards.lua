-- Compares a client's list of servers with the stored one, stores it if there is none, and replaces another one on request.
--
-- KEYS[1] = the list: <prefix>shards
-- KEYS[2] = the previous list, for as long as names that move are shut: <prefix>moving
-- ARGV[1] = ids of the client's servers, sorted, with commas between
-- ARGV[2] = how long names that move are to be shut if the list is replaced (ms); 0 if it must not be
--
-- Returns { 1, previous list, ms that it still counts } (0 ms: nothing moves), or { 0, stored list, 0 } if the stored list is
-- another one; nothing was changed then.
--
-- If a list is replaced twice within that time, the names of the first change stay shut only as long as the second demands:
-- wait for one change to end before the next.
--
-- Atomic because Redis runs one script at a time. Expiry is by the server's clock. Lowest server version: 6.2.

local list = redis.call('GET', KEYS[1])
if not list then
  redis.call('SET', KEYS[1], ARGV[1])
elseif list ~= ARGV[1] then
  if ARGV[2] == '0' then
    return { 0, list, 0 }
  end
  redis.call('SET', KEYS[2], list, 'PX', ARGV[2])
  redis.call('SET', KEYS[1], ARGV[1])
end
local before = redis.call('GET', KEYS[2])
if not before then
  return { 1, '', 0 }
end
return { 1, before, math.max(1, redis.call('PTTL', KEYS[2])) }
