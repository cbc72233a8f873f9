-- Reads one lock; changes nothing.
--
-- KEYS[1] = the record of the lock: <prefix>l:<name>
-- ARGV[1] = prefix of all keys
-- ARGV[2] = the most waiters and the most holders to return
--
-- Returns nothing if the lock has no record, or a foreign key stands there; else the server's time (µs, text), the record
-- (see lock.lua), the number of waiters (text), then for each holder of an inflated record and each waiter in order: attempt,
-- entry. Then '' and for each session met, from the lone holder on: session, ms left (text), its value or ''. With strict
-- expiry the value of an ended session is that of its beat.
--
-- Atomic because Redis runs one script at a time: a snapshot. Lowest server version: 6.2.

local record = redis.pcall('GET', KEYS[1])
if type(record) ~= 'string' then
  return {}
end
local prefix, most, name = ARGV[1], tonumber(ARGV[2]), string.sub(KEYS[1], #ARGV[1] + 3)
local time = redis.call('TIME')
local told = { string.format('%.0f', time[1] * 1000000 + time[2]), record, '0' }
local sessions, met = {}, {}

local function meet(attempt)
  local session = string.sub(attempt, 1, 12)
  if not met[session] then
    met[session] = true
    sessions[#sessions + 1] = session
  end
end

local function list(key)
  local attempts = redis.pcall('ZRANGE', prefix .. key .. name, 0, most - 1)
  for from = 1, #attempts, 100 do
    local to = math.min(from + 99, #attempts)
    local entries = redis.pcall('HMGET', prefix .. 'd:' .. name, unpack(attempts, from, to))
    for i = from, to do
      if entries[i - from + 1] then
        told[#told + 1] = attempts[i]
        told[#told + 1] = entries[i - from + 1]
        meet(attempts[i])
      end
    end
  end
end

local state = string.sub(record, 1, 1)
if state == 'h' or state == 'w' then
  meet(string.sub(record, 18, 39))
elseif state == 'x' then
  list('o:')
end
local waiters = redis.pcall('ZCARD', prefix .. 'q:' .. name)
if type(waiters) == 'number' and waiters > 0 then
  told[3] = string.format('%.0f', waiters)
  list('q:')
end
told[#told + 1] = ''
for _, session in ipairs(sessions) do
  local key = prefix .. 's:' .. session
  told[#told + 1] = session
  told[#told + 1] = tostring(redis.call('PTTL', key))
  local value = redis.pcall('GET', key) or redis.pcall('GET', prefix .. 'b:' .. session)
  told[#told + 1] = type(value) == 'string' and value or ''
end
return told
