-- Acquire, abandon, adjust, evict, open and sweep: one operation on each of the given locks, in order.
--
-- KEYS[i]     = the record of the i-th operation's lock: <prefix>l:<name>; up to 64 of them, and in a cluster one more,
--               which never exists: while the slot migrates, the server then refuses the call instead of doing half
-- ARGV[1]     = prefix of all keys
-- ARGV[2]     = deadline (µs since 1970 by the server's clock): no acquire or adjust runs after it
-- ARGV[3]     = how long the record of an idle lock is kept (ms)
-- ARGV[i + 3] = the i-th operation, fields of fixed width one after the other, times in µs:
--   e<attempt 22><queue 0|1><tokens 4>[<proven dead session 12>]                   acquire all of a plain lock
--   a<attempt 22><queue 0|1><tokens 4><proven dead 12><weight 7><capacity 7><floor 16><at most 16><at least 16><label>
--   r<attempt 22>                                                                  abandon: release or cancel
--   j<attempt 22><tokens 4><weight 7><capacity 7><at most 16><at least 16><floor 16>   adjust a hold
--   v<attempt 22><C|B>                                                             evict: close or break
--   o                                                                              open a lock that is shut
--   s[b]                                                                           sweep: end holds of dead sessions; b:
--                                                    with strict expiry, of those that have no beat either
--
-- Returns one text for each operation:
--   G<token 16><tokens 4><wanted 0|1>[<at most left 16>]                           holds
--   Q|B<ahead 7><ask again 16>[<holder 22><its token 16><its session's left 16>]   queued, or busy
--   E<end 1><more 0|1>          ended; end is R X V T (held: released, expired, evicted, taken), r v (waited), - (unknown)
--   S, D<end 1>, C<capacity 7>, N, W, F                                            refused: session gone, ended already,
--                                                    capacity differs, not held, would widen, server full; nothing changed
--   L<now 16>                   too late; nothing changed
--   X<error>                    a key is not what it should be, or the server takes no writes; nothing changed
--   #<number 7>                 count of swept or opened locks
--
-- Atomic because Redis runs one script at a time. An error does not undo earlier writes, so an operation reads
-- everything before it writes, and only its first write can be refused. Expiry is by the server's clock (PX, TIME).
-- An operation that releases locks begins with a write that a full server allows (PERSIST, not SET).
-- Lowest server version: 6.2.
--
-- A waiter that cannot receive its grant is passed over and keeps its place, unless it sent this request. Such a waiter's
-- session said at its last renewal that it listens to its inbox, but by the server's own count (PUBSUB NUMSUB, in a cluster
-- from 7.0 on SHARDNUMSUB) the inbox has no subscriber now, as after a kill. A process that may not subscribe never says
-- that it listens, and is never passed over. A live process that has lost its subscription says so at its next renewal, once
-- a second while it waits, and is passed over until then at most. Without the count (a user without PUBSUB, a cluster before
-- 7.0) no waiter is passed over. This only chooses the next waiter: expiry alone decides whether a session lives.
--
-- Keys of a lock:
--   l:<name>  string. First byte: - free, no waiters; = free, but shut or with a queue; h held alone, holder not told;
--             w held alone, holder told; x anything else, holders are in o and d. Then last token 16, and for
--       - =   last end: attempt 22, end 1; = also: shut until 16
--       h w   attempt 22, tokens 4 [, last end 23 [, note 16 or: since 16, free at 16, shut until 16, evicted 0|1, note 16, label ]]
--       x     last end 23, capacity 7, used 7, holders 7, order 16, shut until 16, first free at 16
--   q:<name>  sorted set of waiting attempts by ticket (µs)
--   o:<name>  sorted set of holding attempts by order (x only)
--   d:<name>  hash by attempt
--       w     since 16, tokens 4 [, weight 7, floor 16, at most 16, at least 16, label ]
--       h t   weight 7, token 16, tokens 4, since 16, free at 16, shut until 16, evicted 0|1, note 16, label   (x only)
--             t: told that it is wanted; note: id of the notification of its grant, 0s if it was told by an answer
-- Keys of a session: s:<session> string <beat 16><ttl ms 16><listens 0|1><label>, n:<session> sorted set of notifications by id;
-- inbox channel i:<session>. Notifications: G<attempt><token 16><tokens 4><wanted><timed><name>, W<attempt><name>,
-- X<attempt><end><name>; its id is twice a time (µs); one more for W after G of the same hold; for X less 2^53, so that X
-- comes first. The end of a hold removes its G and W: O(log n).

local PREFIX, DEADLINE, RETENTION = ARGV[1], tonumber(ARGV[2]), ARGV[3]
-- The most waiters ahead whose sessions' ends are read, so that joining a long queue takes constant time.
local LOOKED_AT = 8
local try, sub, byte, format = redis.pcall, string.sub, string.byte, string.format
local now

-- Notification ids rise with the clock; a script that sends many takes longer than a µs for each.
local told_so_far = 0

local function clock()
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
  return now
end

-- In a cluster, publishes to the subscribers of this slot where the server supports that (7.0); else to all.
local function publish(channel, text)
  local sent = #KEYS > #ARGV - 3 and try('SPUBLISH', channel, text)
  if type(sent) ~= 'number' then
    redis.call('PUBLISH', channel, text)
  end
end

-- Whether a session that listened at its last renewal has no subscriber at its inbox now.
local function disconnected(session)
  local count = try('PUBSUB', #KEYS > #ARGV - 3 and 'SHARDNUMSUB' or 'NUMSUB', PREFIX .. 'i:' .. session)
  if count[2] ~= 0 then
    return false
  end
  local text = try('GET', PREFIX .. 's:' .. session)
  return type(text) == 'string' and byte(text, 33) == 49
end

-- All but the commonest paths. Made only when first needed: each closure costs time in every call.
local function machine()
  local SHARERS, STEPS, LEAD = 1000000, 64, 1000000
  local NO_END = string.rep('.', 23)
  local FOREIGN = 'the record of the lock is not one of ours'

  local function number(text, from, to)
    return tonumber(sub(text, from, to))
  end

  local function wide(x)
    return format('%016.0f', x)
  end

  -- Raises an answer's error. If nothing is written yet, the operation has changed nothing.
  local function sure(answer)
    if type(answer) == 'table' and answer.err then
      error(answer.err, 0)
    end
    return answer
  end

  local function read(...)
    return sure(try(...))
  end

  -- Milliseconds that a session has left, 0 if it has ended, nil if that cannot be known here.
  local lives = {}
  local function life(session)
    local left = lives[session]
    if left == nil then
      left = try('PTTL', PREFIX .. 's:' .. session)
      if type(left) ~= 'number' then
        return nil
      end
      left = left == -2 and 0 or math.max(left, 1)
      lives[session] = left
    end
    return left
  end

  local function live(attempt)
    return life(sub(attempt, 1, 12)) ~= 0
  end

  local away = {}
  local function is_disconnected(session)
    if away[session] == nil then
      away[session] = disconnected(session)
    end
    return away[session]
  end

  local function parse_hold(attempt, text)
    return {
      attempt = attempt,
      told = byte(text) == 116,
      weight = number(text, 2, 8),
      token = number(text, 9, 24),
      tokens = number(text, 25, 28),
      since = number(text, 29, 44),
      free = number(text, 45, 60),
      shut = number(text, 61, 76),
      evicted = sub(text, 77, 77) == '1',
      note = number(text, 78, 93),
      label = sub(text, 94),
    }
  end

  local function parse_waiter(text)
    local long = #text > 21
    return {
      tokens = number(text, 18, 21),
      weight = long and number(text, 22, 28) or SHARERS,
      floor = long and number(text, 29, 44) or 0,
      most = long and number(text, 45, 60) or 0,
      least = long and number(text, 61, 76) or 0,
      label = long and sub(text, 77) or '',
    }
  end

  local function load(key, text)
    local name = sub(key, #PREFIX + 3)
    if text == nil then
      text = try('GET', key)
    end
    sure(text)
    local lock = {
      key = key, name = name, text = text,
      q = PREFIX .. 'q:' .. name, o = PREFIX .. 'o:' .. name, d = PREFIX .. 'd:' .. name,
      last = 0, capacity = SHARERS, used = 0, count = 0, order = 0, shut = 0, soonest = 0, ending = NO_END,
      holds = {}, fresh = {}, ended = {}, taken = {}, tells = {}, over = {}, entries = {},
    }
    if not text then
      return lock
    end
    local state = byte(text)
    lock.last = number(text, 2, 17)
    if not lock.last or #text < 40 then
      error(FOREIGN, 0)
    end
    -- A waiter that joins a lock's queue tells the holder, so an untold holder means an empty queue.
    lock.nobody = state == 45 or state == 104
    if state == 45 or state == 61 then
      lock.ending = sub(text, 18, 40)
      lock.shut = number(text, 41, 56) or 0
    elseif state == 104 or state == 119 then
      local tokens = number(text, 40, 43) or error(FOREIGN, 0)
      local hold = {
        attempt = sub(text, 18, 39), told = state == 119, weight = SHARERS, tokens = tokens,
        token = lock.last - tokens + 1, since = lock.last - tokens + 1, free = 0, shut = 0, evicted = false, note = 0, label = '',
      }
      if #text > 43 then
        lock.ending = sub(text, 44, 66)
      end
      if #text > 66 and #text <= 82 then
        hold.note = number(text, 67, 82)
      elseif #text > 82 then
        hold.since, hold.free, hold.shut = number(text, 67, 82), number(text, 83, 98), number(text, 99, 114)
        hold.evicted, hold.note, hold.label = sub(text, 115, 115) == '1', number(text, 116, 131), sub(text, 132)
      end
      lock.alone, lock.holds[hold.attempt] = hold, hold
      lock.used, lock.count, lock.soonest = SHARERS, 1, hold.free
    elseif state == 120 then
      lock.inflated = true
      lock.ending = sub(text, 18, 40)
      lock.capacity, lock.used, lock.count = number(text, 41, 47), number(text, 48, 54), number(text, 55, 61)
      lock.order, lock.shut, lock.soonest = number(text, 62, 77), number(text, 78, 93), number(text, 94, 109)
      if not lock.soonest then
        error(FOREIGN, 0)
      end
    else
      error(FOREIGN, 0)
    end
    return lock
  end

  local function entry(lock, attempt)
    local text = lock.entries[attempt]
    if text == nil then
      text = read('HGET', lock.d, attempt)
      lock.entries[attempt] = text
    end
    return text
  end

  local function hold_of(lock, attempt)
    local hold = lock.holds[attempt]
    if hold == nil and lock.inflated then
      local text = entry(lock, attempt)
      hold = text and byte(text) ~= 119 and parse_hold(attempt, text) or false
      lock.holds[attempt] = hold
    end
    return hold or nil
  end

  local function is_waiting(lock, attempt)
    local text = not lock.nobody and not lock.taken[attempt] and entry(lock, attempt)
    return text and byte(text) == 119
  end

  local function take(lock, attempt)
    lock.taken[attempt] = true
    lock.taken[#lock.taken + 1] = attempt
  end

  -- The first waiter from that place in the queue on, except those that this step took from it, and its place; nil if
  -- there is none.
  local function waiter_from(lock, at)
    if lock.nobody then
      return nil
    end
    lock.queue = lock.queue or {}
    while true do
      local attempt = lock.queue[at]
      if attempt == nil then
        local from = #lock.queue
        local more = not lock.all and read('ZRANGE', lock.q, from, from == 0 and 1 or from + STEPS) or {}
        lock.all = #more < 2
        if #more == 0 then
          return nil
        end
        for i = 1, #more do
          lock.queue[from + i] = more[i]
        end
      elseif lock.taken[attempt] then
        at = at + 1
      else
        return attempt, at
      end
    end
  end

  local function head(lock)
    local attempt
    attempt, lock.at = waiter_from(lock, lock.at or 1)
    return attempt
  end

  -- The next holders to look at, 64 at most, except those that this step has ended.
  local function window(lock)
    if not lock.window then
      lock.window = {}
      if lock.alone then
        lock.window[1] = lock.alone
      elseif lock.inflated then
        local attempts = read('ZRANGE', lock.o, 0, STEPS - 1 + #lock.ended)
        local texts = #attempts > 0 and read('HMGET', lock.d, unpack(attempts)) or {}
        for i = 1, #attempts do
          local attempt = attempts[i]
          local hold = lock.holds[attempt]
          if hold == nil then
            hold = texts[i] and parse_hold(attempt, texts[i])
          end
          if hold then
            lock.holds[attempt] = hold
            lock.window[#lock.window + 1] = hold
          end
        end
      end
    end
    local present = {}
    for _, hold in ipairs(lock.window) do
      if not hold.over then
        present[#present + 1] = hold
      end
    end
    for i = 1, math.min(#lock.fresh, STEPS - #present) do
      present[#present + 1] = lock.fresh[i]
    end
    return present
  end

  local function is_over(hold)
    return hold.free > 0 and hold.free <= now
  end

  -- Returns the id of the notification, 0 if the session is not known to live. W follows the note of the hold's G, if it has one.
  local function tell(lock, attempt, notification, note)
    if (life(sub(attempt, 1, 12)) or 0) == 0 then
      return 0
    end
    told_so_far = told_so_far + 1
    local id = note and note > 0 and note + 1 or 2 * (now + told_so_far)
    lock.tells[#lock.tells + 1] = { attempt = attempt, notification = notification .. lock.name, id = id }
    return id
  end

  local function finish(lock, hold, how)
    hold.over = true
    lock.holds[hold.attempt] = false
    if hold == lock.alone then
      lock.alone = nil
    else
      lock.ended[#lock.ended + 1] = hold.attempt
    end
    lock.used, lock.count = lock.used - hold.weight, lock.count - 1
    lock.shut = math.max(lock.shut, hold.shut)
    lock.ending = hold.attempt .. how
    if how ~= 'T' and (hold.told or hold.note > 0) then
      lock.over[#lock.over + 1] = hold
    end
    if how ~= 'R' and not (how == 'V' and hold.evicted) then
      tell(lock, hold.attempt, 'X' .. hold.attempt .. how)
    end
  end

  local function restart(lock, hold, most, least)
    if most > 0 then
      hold.free = now + most
      lock.soonest = lock.soonest > 0 and math.min(lock.soonest, hold.free) or hold.free
    end
    if least > 0 then
      hold.shut = now + least
    end
  end

  local function mint(lock, hold, tokens, floor)
    hold.token = math.max(lock.last + 1, now, floor)
    hold.tokens = math.min(tokens, math.max(1, now + LEAD - hold.token))
    lock.last = hold.token + hold.tokens - 1
  end

  local function grant(lock, attempt, want)
    local hold = {
      attempt = attempt, told = false, weight = want.weight, since = now, free = 0, shut = 0, evicted = false, note = 0,
      label = want.label, changed = true,
    }
    restart(lock, hold, want.most, want.least)
    mint(lock, hold, want.tokens, want.floor)
    lock.used, lock.count = lock.used + hold.weight, lock.count + 1
    lock.holds[attempt] = hold
    lock.fresh[#lock.fresh + 1] = hold
    return hold
  end

  local function granted(lock, hold)
    if not hold.told and head(lock) then
      hold.told, hold.changed = true, true
    end
    return 'G' .. wide(hold.token) .. format('%04d', hold.tokens) .. (hold.told and '1' or '0')
      .. (hold.free > 0 and wide(math.max(0, hold.free - now)) or '')
  end

  -- Grants to waiters in order for as long as they fit, dropping the dead. A waiter that cannot receive the grant is passed
  -- over, unless it sent this request. Returns whether the next is a newcomer, and whether work is left.
  local function serve(lock, asking)
    local at, before = 1, #lock.taken
    for step = 0, STEPS do
      if lock.shut > now then
        return false, false
      end
      local attempt
      attempt, at = waiter_from(lock, at)
      if not attempt then
        return true, false
      elseif step == STEPS then
        -- For waiters that were passed over, no work is left.
        return false, #lock.taken > before
      end
      local session = sub(attempt, 1, 12)
      local left = life(session)
      if not left then
        return false, true
      end
      local text = left > 0 and entry(lock, attempt)
      if not text then
        take(lock, attempt)
      elseif attempt ~= asking and is_disconnected(session) then
        at = at + 1
      else
        local want = parse_waiter(text)
        if lock.used + want.weight > lock.capacity then
          return false, false
        end
        take(lock, attempt)
        local hold = grant(lock, attempt, want)
        local answer = granted(lock, hold)
        hold.note = tell(lock, attempt, 'G' .. attempt .. sub(answer, 2, 22) .. (hold.free > 0 and '1' or '0'))
      end
    end
  end

  -- The text of the record, and its retention if it expires.
  local function record(lock, waiter)
    local start = wide(lock.last)
    if lock.capacity == SHARERS and lock.count == 0 then
      local shut = lock.shut > now and lock.shut or 0
      local queue = head(lock) or waiter
      if shut == 0 and not queue then
        return '-' .. start .. lock.ending, RETENTION
      end
      return '=' .. start .. lock.ending .. wide(shut),
        not queue and format('%.0f', RETENTION + math.ceil((shut - now) / 1000)) or nil
    end
    local hold = lock.alone or lock.fresh[1]
    if hold and lock.count == 1 and hold.weight == SHARERS then
      local long = hold.since ~= hold.token or hold.free > 0 or hold.shut > 0 or hold.evicted or hold.label ~= ''
      return (hold.told and 'w' or 'h') .. start .. hold.attempt .. format('%04d', hold.tokens)
        .. ((long or hold.note > 0 or lock.ending ~= NO_END) and lock.ending or '')
        .. (long and wide(hold.since) .. wide(hold.free) .. wide(hold.shut) .. (hold.evicted and '1' or '0') or '')
        .. ((long or hold.note > 0) and wide(hold.note) .. hold.label or '')
    end
    if lock.count == 0 then
      lock.soonest = 0
    end
    local idle = lock.count == 0 and not head(lock) and not waiter
    return 'x' .. start .. lock.ending .. format('%07d%07d%07d', lock.capacity, lock.used, lock.count) .. wide(lock.order) .. wide(lock.shut) .. wide(lock.soonest),
      idle and format('%.0f', RETENTION + math.max(0, math.ceil((lock.shut - now) / 1000))) or nil
  end

  -- Writes all changes. If gentle, releases locks even on a full server; else the first write may be refused.
  local function save(lock, gentle, waiter)
    local started, text, keep = false, nil, nil
    -- A full server allows these two, and every write after them.
    local function open_gate()
      if keep then
        redis.call('PEXPIRE', lock.key, keep)
      else
        redis.call('PERSIST', lock.key)
      end
    end
    local function write(...)
      if started then
        redis.call(...)
        return
      end
      started = true
      local answer = try(...)
      if type(answer) == 'table' and answer.err then
        if not gentle or not answer.err:find('OOM', 1, true) then
          error(answer.err, 0)
        end
        open_gate()
        redis.call(...)
      end
    end
    local holders = {}
    for _, hold in pairs(lock.holds) do
      if hold and (hold.changed or hold == lock.alone) then
        holders[#holders + 1] = hold
      end
    end
    table.sort(lock.fresh, function(a, b) return a.token < b.token end)
    local places = {}
    local inflates = not (lock.capacity == SHARERS and (lock.count == 0
      or (lock.count == 1 and ((lock.alone or lock.fresh[1] or {}).weight == SHARERS))))
    if inflates then
      local function place(hold)
        lock.order = lock.order + 1
        places[#places + 1] = lock.order
        places[#places + 1] = hold.attempt
      end
      if lock.rotate then
        for _, hold in ipairs(lock.window) do
          if not hold.over then
            place(hold)
          end
        end
      end
      if lock.alone then
        place(lock.alone)
      end
      for _, hold in ipairs(lock.fresh) do
        if not hold.over then
          place(hold)
        end
      end
    end
    text, keep = record(lock, waiter)
    if inflates and not lock.inflated then
      read('ZCARD', lock.o)
      read('HLEN', lock.d)
    end
    if waiter then
      -- First, since the type of these keys is not known yet.
      write('HSET', lock.d, waiter.attempt, waiter.text)
      local added = try('ZADD', lock.q, waiter.ticket, waiter.attempt)
      if type(added) ~= 'number' then
        redis.call('HDEL', lock.d, waiter.attempt)
        sure(added)
      end
    end
    if text ~= lock.text then
      if keep then
        write('SET', lock.key, text, 'PX', keep)
      else
        write('SET', lock.key, text)
      end
    elseif keep and #lock.taken > 0 then
      write('PEXPIRE', lock.key, keep)
    end
    if #lock.taken > 0 then
      write('ZREM', lock.q, unpack(lock.taken))
      write('HDEL', lock.d, unpack(lock.taken))
    end
    if #lock.ended > 0 then
      write('ZREM', lock.o, unpack(lock.ended))
      write('HDEL', lock.d, unpack(lock.ended))
    end
    if inflates then
      for _, hold in ipairs(holders) do
        write('HSET', lock.d, hold.attempt, (hold.told and 't' or 'h') .. format('%07d', hold.weight) .. wide(hold.token)
          .. format('%04d', hold.tokens) .. wide(hold.since) .. wide(hold.free) .. wide(hold.shut)
          .. (hold.evicted and '1' or '0') .. wide(hold.note) .. hold.label)
      end
      if #places > 0 then
        write('ZADD', lock.o, unpack(places))
      end
    end
    if waiter and lock.count == 0 and text == lock.text then
      write('PERSIST', lock.key)
    end
    for _, hold in ipairs(lock.over) do
      local key = PREFIX .. 'n:' .. sub(hold.attempt, 1, 12)
      if hold.note > 0 then
        try('ZREMRANGEBYSCORE', key, wide(hold.note), wide(hold.note + 1))
      else
        try('ZREM', key, 'W' .. hold.attempt .. lock.name)
      end
    end
    for _, told in ipairs(lock.tells) do
      local session = sub(told.attempt, 1, 12)
      local key = PREFIX .. 'n:' .. session
      -- A notification for a key of another type is dropped; the waiter's poll finds out.
      if not started then
        started = true
        open_gate()
      end
      local place = byte(told.notification) == 88 and told.id - 9007199254740992 or told.id
      if type(try('ZADD', key, format('%.0f', place), told.notification)) == 'number' then
        redis.call('PEXPIRE', key, life(session) + 60000)
      end
      publish(PREFIX .. 'i:' .. session, told.notification)
    end
  end

  -- Ends holds whose time is over, and those of a session that was proven dead.
  local function end_over(lock, dead)
    if dead == '' and (lock.soonest == 0 or lock.soonest > now) then
      return
    end
    local soonest, many = 0, lock.count > STEPS
    for _, hold in ipairs(window(lock)) do
      if sub(hold.attempt, 1, 12) == dead then
        finish(lock, hold, 'T')
      elseif is_over(hold) then
        finish(lock, hold, hold.evicted and 'V' or 'X')
      elseif hold.free > 0 then
        soonest = soonest > 0 and math.min(soonest, hold.free) or hold.free
      end
    end
    if not many then
      lock.soonest = soonest
    elseif #lock.ended > 0 then
      lock.window = nil
    end
  end

  -- With more holders than one step looks at, those it looked at go to the end, so that each gets its turn.
  local function look_further(lock)
    lock.rotate = lock.inflated and lock.count > STEPS
  end

  local function contended(lock, attempt, queue, want)
    local in_way
    local wait = lock.shut > now and lock.shut - now or lock.count == 0 and 0 or nil
    local function at_most(time)
      wait = math.min(wait or time, time)
    end
    for _, hold in ipairs(window(lock)) do
      local left = life(sub(hold.attempt, 1, 12)) or 1
      at_most(left * 1000)
      if hold.free > 0 then
        at_most(hold.free - now)
      end
      if not in_way or (left == 0 and life(sub(in_way.attempt, 1, 12)) ~= 0) then
        in_way = hold
      end
      if not hold.told then
        hold.told, hold.changed = true, true
        tell(lock, hold.attempt, 'W' .. hold.attempt, hold.note)
      end
    end
    if in_way and life(sub(in_way.attempt, 1, 12)) ~= 0 then
      -- Skips live sessions only: the request that comes back with the proof must find the dead in their place.
      look_further(lock)
    end
    local ahead, waiter = -1, nil
    if is_waiting(lock, attempt) then
      ahead = math.max(0, (read('ZRANK', lock.q, attempt) or 0) - #lock.taken)
    elseif queue then
      ahead = lock.nobody and 0 or read('ZCARD', lock.q) - #lock.taken
      local latest = ahead > 0 and read('ZRANGE', lock.q, -1, -1, 'WITHSCORES')[2] or 0
      local plain = want.weight == SHARERS and want.floor == 0 and want.most == 0 and want.least == 0 and want.label == ''
      waiter = {
        attempt = attempt,
        ticket = format('%.0f', math.max(latest + 1, now)),
        text = 'w' .. wide(now) .. format('%04d', want.tokens) .. (plain and '' or format('%07d', want.weight)
          .. wide(want.floor) .. wide(want.most) .. wide(want.least) .. want.label),
      }
    end
    save(lock, false, waiter)
    local left = in_way and (life(sub(in_way.attempt, 1, 12)) or 1) * 1000
    if ahead > 0 then
      -- The death of a waiter ahead is noticed when its session ends.
      local before = try('ZRANGE', lock.q, 0, math.min(ahead, LOOKED_AT) - 1)
      for i = 1, #before do
        local lives_yet = life(sub(before[i], 1, 12)) or 0
        if lives_yet > 0 then
          at_most(lives_yet * 1000)
        end
      end
    end
    wait = math.max(0, wait or 0) + 1000 * (1 + math.min(math.max(ahead, 0), 10000))
    return (ahead < 0 and 'B' or 'Q') .. format('%07d', math.max(ahead, 0)) .. wide(wait)
      .. (in_way and in_way.attempt .. wide(in_way.token) .. wide(left) or '')
  end

  local function acquire(key, text, attempt, queue, dead, capacity, want)
    if not live(attempt) then
      return 'S'
    end
    if now > DEADLINE then
      return 'L' .. wide(now)
    end
    local lock = load(key, text)
    if not lock.text then
      lock.capacity = capacity
    elseif lock.capacity ~= capacity then
      return 'C' .. format('%07d', lock.capacity)
    end
    end_over(lock, dead)
    local hold = hold_of(lock, attempt)
    local polled = hold ~= nil
    if not hold and sub(lock.ending, 1, 22) == attempt then
      local how = sub(lock.ending, 23)
      save(lock, true)
      return 'D' .. how
    end
    local first
    if not hold then
      first = serve(lock, attempt)
      hold = hold_of(lock, attempt)
    end
    if not hold and first and lock.used + want.weight <= capacity then
      hold = grant(lock, attempt, want)
      if head(lock) then
        -- Waiters that were passed over have told the holder before, but that answer may be lost.
        hold.told = true
        tell(lock, attempt, 'W' .. attempt)
      end
    end
    if not hold then
      return contended(lock, attempt, queue, want)
    end
    local answer = granted(lock, hold)
    save(lock, polled)
    return answer
  end

  local function abandon(key, text, attempt)
    local lock = load(key, text)
    if not lock.text then
      return 'E-0'
    end
    local how = '-'
    local hold = hold_of(lock, attempt)
    if hold then
      how = hold.evicted and 'V' or is_over(hold) and 'X' or 'R'
      finish(lock, hold, how)
    elseif is_waiting(lock, attempt) then
      how = 'r'
      take(lock, attempt)
      lock.ending = attempt .. how
    elseif sub(lock.ending, 1, 22) == attempt then
      how = sub(lock.ending, 23)
    end
    local _, more = serve(lock)
    save(lock, true)
    return 'E' .. how .. (more and '1' or '0')
  end

  local function adjust(key, text, attempt, tokens, weight, capacity, most, least, floor)
    if not live(attempt) then
      return 'S'
    end
    if now > DEADLINE then
      return 'L' .. wide(now)
    end
    local lock = load(key, text)
    local hold = lock.text and hold_of(lock, attempt)
    if not hold or is_over(hold) or hold.evicted then
      return 'N'
    elseif lock.capacity ~= capacity then
      return 'C' .. format('%07d', lock.capacity)
    elseif weight > hold.weight then
      return 'W'
    end
    lock.used = lock.used - hold.weight + weight
    hold.weight, hold.changed = weight, true
    restart(lock, hold, most, least)
    if tokens > 0 then
      mint(lock, hold, tokens, floor)
    end
    serve(lock)
    local answer = granted(lock, hold)
    save(lock, true)
    return answer
  end

  local function evict(key, attempt, close)
    local lock = load(key)
    local hold = lock.text and hold_of(lock, attempt)
    local left = life(sub(attempt, 1, 12)) or 1
    local how, more, _ = '-', false, nil
    if hold and close and left > 0 then
      -- The owner is told once and gives up; else its own deadline ends its belief before the session's TTL has passed.
      if not hold.evicted then
        tell(lock, attempt, 'X' .. attempt .. 'V')
      end
      local free = now + left * 1000
      hold.evicted, hold.changed, hold.shut = true, true, 0
      hold.free = hold.free > 0 and math.min(hold.free, free) or free
      lock.soonest = lock.soonest > 0 and math.min(lock.soonest, hold.free) or hold.free
      save(lock, true)
      return 'EV0'
    elseif hold then
      how = 'V'
      hold.shut = 0
      finish(lock, hold, how)
    elseif lock.text and is_waiting(lock, attempt) then
      how = 'v'
      take(lock, attempt)
      lock.ending = attempt .. how
      tell(lock, attempt, 'X' .. attempt .. 'V')
    end
    if how ~= '-' then
      _, more = serve(lock)
      save(lock, true)
    end
    return 'E' .. how .. (more and '1' or '0')
  end

  local function reopen(key)
    local lock = load(key)
    if not lock.text or lock.shut <= now then
      return '#0000000'
    end
    lock.shut = 0
    serve(lock)
    save(lock, true)
    return '#0000001'
  end

  local function sweep(key, strictly)
    local lock = load(key)
    local removed = 0
    if lock.text then
      for _, hold in ipairs(window(lock)) do
        local session = sub(hold.attempt, 1, 12)
        if life(session) == 0 and not (strictly and try('EXISTS', PREFIX .. 'b:' .. session) ~= 0) then
          finish(lock, hold, 'T')
          removed = removed + 1
        end
      end
      look_further(lock)
      serve(lock)
      save(lock, true)
    end
    return '#' .. format('%07d', removed)
  end

  local function run(key, arg, text)
    now = now or clock()
    local op, attempt = byte(arg), sub(arg, 2, 23)
    if op == 101 then
      return acquire(key, text, attempt, sub(arg, 24, 24) == '1', sub(arg, 29, 40), SHARERS,
        { weight = SHARERS, tokens = number(arg, 25, 28), floor = 0, most = 0, least = 0, label = '' })
    elseif op == 97 then
      local dead = sub(arg, 29, 40)
      return acquire(key, text, attempt, sub(arg, 24, 24) == '1', dead == '............' and '' or dead, number(arg, 48, 54), {
        tokens = number(arg, 25, 28), weight = number(arg, 41, 47), floor = number(arg, 55, 70),
        most = number(arg, 71, 86), least = number(arg, 87, 102), label = sub(arg, 103),
      })
    elseif op == 114 then
      return abandon(key, text, attempt)
    elseif op == 106 then
      return adjust(key, text, attempt, number(arg, 24, 27), number(arg, 28, 34), number(arg, 35, 41), number(arg, 42, 57),
        number(arg, 58, 73), number(arg, 74, 89))
    elseif op == 118 then
      return evict(key, attempt, sub(arg, 24) == 'C')
    elseif op == 111 then
      return reopen(key)
    end
    return sweep(key, sub(arg, 2) == 'b')
  end

  return function(key, arg, text)
    local done, answer = pcall(run, key, arg, text)
    if done then
      return answer
    end
    local message = tostring(type(answer) == 'table' and answer.err or answer)
    return message:find('OOM', 1, true) and 'F' or 'X' .. message
  end
end

-- The two paths of a contended plain lock, whose holder is alone, has no times and was not evicted. They have the effects
-- and answers of the machine, in half its time. Any unusual case is left to it with nothing written: a dead session, a poll,
-- a full server, keys of another type. Made only when needed.
local function plain_contended()
  local NO_TIMES = string.rep('0', 33)

  local function wide(x)
    return format('%016.0f', x)
  end

  -- Milliseconds that the attempt's session has left; nil if it has ended or that cannot be known.
  local lives = {}
  local function life(attempt)
    local session = sub(attempt, 1, 12)
    local left = lives[session]
    if left == nil then
      left = try('PTTL', PREFIX .. 's:' .. session)
      left = type(left) == 'number' and left ~= -2 and (left > 0 and left or 1)
      lives[session] = left
    end
    return left or nil
  end

  local function is_plain(text)
    return #text <= 82 or (#text == 131 and sub(text, 83, 115) == NO_TIMES)
  end

  local function note_of(text)
    if #text == 82 then
      return sub(text, 67, 82)
    end
    return #text == 131 and sub(text, 116, 131) or NO_TIMES
  end

  local function tell(attempt, id, notification)
    local session = sub(attempt, 1, 12)
    local key = PREFIX .. 'n:' .. session
    if type(try('ZADD', key, format('%.0f', id), notification)) == 'number' then
      redis.call('PEXPIRE', key, life(attempt) + 60000)
    end
    publish(PREFIX .. 'i:' .. session, notification)
  end

  -- Queues behind a living holder, or is told that the lock is busy.
  local function wait(key, arg, text)
    local attempt, holder = sub(arg, 2, 23), sub(text, 18, 39)
    local name = sub(key, #PREFIX + 3)
    local held = life(holder)
    if not held or not is_plain(text) or holder == attempt or sub(text, 44, 65) == attempt or not life(attempt) then
      return nil
    end
    now = now or clock()
    if now > DEADLINE then
      return nil
    end
    local q = PREFIX .. 'q:' .. name
    local rows = byte(text) == 119 and try('ZRANGE', q, 0, LOOKED_AT - 1, 'WITHSCORES') or {}
    if rows.err or (rows[1] and not life(rows[1])) then
      return nil
    end
    local left = held
    local queue = sub(arg, 24, 24) == '1'
    for i = 1, #rows, 2 do
      if rows[i] == attempt then
        return nil
      end
      left = queue and math.min(left, life(rows[i]) or left) or left
    end
    local ahead, latest = #rows / 2, rows[#rows] or 0
    if ahead == LOOKED_AT then
      if try('ZSCORE', q, attempt) then
        return nil
      end
      ahead, latest = try('ZCARD', q), try('ZRANGE', q, -1, -1, 'WITHSCORES')[2]
    end
    if queue then
      local d = PREFIX .. 'd:' .. name
      if type(try('HSET', d, attempt, 'w' .. wide(now) .. sub(arg, 25, 28))) ~= 'number' then
        return nil
      end
      local ticket = math.max(latest + 1, now)
      if type(try('ZADD', q, format('%.0f', ticket), attempt)) ~= 'number' then
        redis.call('HDEL', d, attempt)
        return nil
      end
    end
    if byte(text) == 104 then
      if not try('SET', key, 'w' .. sub(text, 2)).ok then
        return nil
      end
      local note = tonumber(note_of(text))
      told_so_far = told_so_far + 1
      tell(holder, note > 0 and note + 1 or 2 * (now + told_so_far), 'W' .. holder .. name)
    end
    return (queue and 'Q' or 'B') .. format('%07d', queue and ahead or 0)
      .. wide(left * 1000 + 1000 * (1 + (queue and math.min(ahead, 10000) or 0))) .. holder
      .. wide(sub(text, 2, 17) - sub(text, 40, 43) + 1) .. wide(held * 1000)
  end

  -- Grants the lock to the queue's head.
  local function hand_off(key, attempt, text)
    local name = sub(key, #PREFIX + 3)
    local q, d = PREFIX .. 'q:' .. name, PREFIX .. 'd:' .. name
    local heads = is_plain(text) and try('ZRANGE', q, 0, 1) or {}
    local head, second = heads[1], heads[2]
    if not head or not life(head) or (second and not life(second)) or disconnected(sub(head, 1, 12)) then
      return nil
    end
    local want = try('HGET', d, head)
    if type(want) ~= 'string' or byte(want) ~= 119 or #want ~= 21 then
      return nil
    end
    now = now or clock()
    local token = math.max(sub(text, 2, 17) + 1, now)
    local tokens = math.min(sub(want, 18, 21), math.max(1, now + 1000000 - token))
    local first, many = wide(token), format('%04d', tokens)
    told_so_far = told_so_far + 1
    local id = 2 * (now + told_so_far)
    local record = (second and 'w' or 'h') .. wide(token + tokens - 1) .. head .. many .. attempt .. 'R'
      .. (token ~= now and wide(now) .. NO_TIMES or '') .. wide(id)
    if not try('SET', key, record).ok then
      return nil
    end
    redis.call('ZREM', q, head)
    redis.call('HDEL', d, head)
    local note, notifications = note_of(text), PREFIX .. 'n:' .. sub(attempt, 1, 12)
    if tonumber(note) > 0 then
      try('ZREMRANGEBYSCORE', notifications, note, wide(note + 1))
    else
      try('ZREM', notifications, 'W' .. attempt .. name)
    end
    tell(head, id, 'G' .. head .. first .. many .. (second and '1' or '0') .. '0' .. name)
    return 'ER0'
  end

  return wait, hand_off
end

local general, wait, hand_off
local mine, lives
-- The record of the lock that the previous operation released, if this one takes it again: only the joint result is written.
local freed
local answers = {}
for i = 1, #ARGV - 3 do
  local key, arg = KEYS[i], ARGV[i + 3]
  local op, answer, text, again = byte(arg), nil, nil, freed
  freed = nil
  if op == 101 and #arg == 28 then
    -- A plain lock that is free, or has no record.
    text = again or try('GET', key)
    local last = not text and 0
    if type(text) == 'string' and byte(text) == 45 and #text == 40 then
      last = tonumber(sub(text, 2, 17))
    end
    if last then
      local attempt = sub(arg, 2, 23)
      local session = sub(attempt, 1, 12)
      if session ~= mine then
        mine, lives = session, try('EXISTS', PREFIX .. 's:' .. session)
      end
      now = now or clock()
      if lives == 1 and now <= DEADLINE and not (text and sub(text, 18, 39) == attempt) then
        local token = math.max(last + 1, now)
        local tokens = sub(arg, 25, 28)
        last = token
        if tokens ~= '0001' then
          last = token + math.min(tokens, math.max(1, now + 1000000 - token)) - 1
          tokens = format('%04d', last - token + 1)
        end
        local first = format('%016.0f', token)
        local record = 'h' .. (last == token and first or format('%016.0f', last)) .. attempt .. tokens
          .. (text and sub(text, 18, 40) or '')
        if token ~= now then
          record = record .. format('%016.0f%049.0f', now, 0)
        end
        local set = try('SET', key, record)
        if set.ok then
          answer = 'G' .. first .. tokens .. '0'
        end
      end
    elseif type(text) == 'string' and (byte(text) == 104 or byte(text) == 119) and #text > 42 then
      if not wait then
        wait, hand_off = plain_contended()
      end
      answer = wait(key, arg, text)
    end
  elseif op == 114 then
    -- Held alone, holder not told, no times.
    text = try('GET', key)
    if type(text) == 'string' and byte(text) == 104 and #text <= 66 and sub(text, 18, 39) == sub(arg, 2) then
      local free, follows = '-' .. sub(text, 2, 39) .. 'R', ARGV[i + 4]
      if follows and KEYS[i + 1] == key and #follows == 28 and byte(follows) == 101 then
        freed, answer = free, 'ER0'
      else
        local set = try('SET', key, free, 'PX', RETENTION)
        if set.ok then
          answer = 'ER0'
        end
      end
    elseif type(text) == 'string' and byte(text) == 119 and #text > 42 and sub(text, 18, 39) == sub(arg, 2) then
      if not wait then
        wait, hand_off = plain_contended()
      end
      answer = hand_off(key, sub(arg, 2), text)
    end
  end
  if not answer then
    general = general or machine()
    if again then
      -- Not taken again after all: both run as if each had come alone.
      answers[i - 1], text = general(key, ARGV[i + 2]), nil
    end
    answer = general(key, arg, text)
  end
  answers[i] = answer
end
return answers
