-- Runs a command unless the fence has seen a later holder of the lock; installs the token.
--
-- KEYS[1] = the fence: fence:<resource>, in the slot of the resource
-- KEYS[2] = the resource
-- ARGV[1] = fencing token (19 digits)
-- ARGV[2] = its holder (1 to 64 characters)
-- ARGV[3…] = the command, word by word; none to install the token only. Its keys must be in the slot of the resource
--
-- Returns { 1, the command's reply }, or { 0, token of the later holder, that holder } with nothing written. The same
-- token from another holder is refused too: then the lock's store granted it twice.
--
-- Tokens have 64 bits and Lua counts in doubles: they are texts of one length here, which compare alike.
-- The fence holds <token 19><holder> and never expires: a forgotten token would let a stale holder in.
--
-- Atomic because Redis runs one script at a time, with nothing between check and write. If the command fails the token stays
-- installed, and the error is returned. Lowest server version: 2.6.

local seen = redis.call('GET', KEYS[1])
if seen then
  local token = string.sub(seen, 1, 19)
  local holder = string.sub(seen, 20)
  if token > ARGV[1] or (token == ARGV[1] and holder ~= ARGV[2]) then
    return { 0, token, holder }
  end
end
if seen ~= ARGV[1] .. ARGV[2] then
  redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2])
end
if not ARGV[3] then
  return { 1 }
end
return { 1, redis.call(unpack(ARGV, 3)) }
