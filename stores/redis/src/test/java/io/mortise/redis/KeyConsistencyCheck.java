package io.mortise.redis;

import java.util.List;

/** Checks that the keys of a namespace are consistent, as the head of {@code lock.lua} demands. */
final class KeyConsistencyCheck implements AutoCloseable {
  private static final String CHECK =
      """
      local P, faults = ARGV[1], {}
      local function keys(kind) return redis.call('KEYS', P .. kind .. ':*') end
      local function field(text, from, to) return tonumber(string.sub(text, from, to)) end
      local names = {}
      for _, kind in ipairs({ 'l', 'q', 'o', 'd' }) do
        for _, key in ipairs(keys(kind)) do names[string.sub(key, #P + 3)] = true end
      end
      for name in pairs(names) do
        local function expect(holds, what)
          if not holds then faults[#faults + 1] = name .. ': ' .. what end
        end
        local record = redis.call('GET', P .. 'l:' .. name) or ''
        local kept = redis.call('PTTL', P .. 'l:' .. name)
        local queue = redis.call('ZRANGE', P .. 'q:' .. name, 0, -1)
        local order = redis.call('ZRANGE', P .. 'o:' .. name, 0, -1, 'WITHSCORES')
        local waits, holds, used, soonest = 0, {}, 0, 0
        local entries, many = redis.call('HGETALL', P .. 'd:' .. name), 0
        for i = 1, #entries, 2 do
          local text = entries[i + 1]
          if string.sub(text, 1, 1) == 'w' then
            waits = waits + 1
            expect(redis.call('ZSCORE', P .. 'q:' .. name, entries[i]), entries[i] .. ' waits, but not in the queue')
            expect(field(text, 2, 17) > 1e15, 'waits since never')
          else
            holds[entries[i]], many = text, many + 1
            used = used + field(text, 2, 8)
            local free = field(text, 45, 60)
            if free > 0 and (soonest == 0 or free < soonest) then soonest = free end
          end
        end
        expect(waits == #queue, #queue .. ' in the queue, of whom ' .. waits .. ' have an entry')
        local state = string.sub(record, 1, 1)
        local idle = many == 0 and waits == 0 and state ~= 'h' and state ~= 'w'
        expect((kept > 0) == idle, 'is kept for ' .. kept .. ' ms as ' .. record)
        expect(state == 'x' or #order == 0 and many == 0, 'holders beside ' .. record)
        if state == '-' then
          expect(#record == 40 and waits == 0, 'not free: ' .. record)
        elseif state == '=' then
          expect(#record == 56 and (waits > 0 or field(record, 41, 56) > 0), 'not shut: ' .. record)
        elseif state == 'h' or state == 'w' then
          expect(waits == 0 or state == 'w', 'nobody was told: ' .. record)
          expect(#record == 43 or #record == 66 or #record == 82 or #record >= 131, 'length: ' .. record)
        elseif state == 'x' then
          expect(#record == 109 and field(record, 41, 47) >= used, 'capacity: ' .. record)
          expect(field(record, 48, 54) == used, used .. ' are used: ' .. record)
          expect(field(record, 55, 61) == many and #order == 2 * many, many .. ' hold: ' .. record)
          expect(#order == 0 or tonumber(order[#order]) <= field(record, 62, 77), 'order: ' .. record)
          local first = field(record, 94, 109)
          expect(soonest == 0 or (first > 0 and first <= soonest), 'ends at ' .. soonest .. ': ' .. record)
          expect(many > 0 or first == 0, 'nothing ends: ' .. record)
          for i = 1, #order, 2 do expect(holds[order[i]], order[i] .. ' holds, but has no entry') end
        else
          expect(false, 'no record: ' .. record)
        end
      end
      for _, key in ipairs(keys('n')) do
        if redis.call('PTTL', key) <= 0 then faults[#faults + 1] = 'notification for ever: ' .. key end
      end
      return faults
      """;

  private final ForeignClient client;
  private final String prefix;

  KeyConsistencyCheck(int port, String namespace) {
    this.client = new ForeignClient(port);
    this.prefix = "m:" + namespace + ":";
  }

  /** The inconsistencies; empty if there are none. */
  List<String> faults() {
    return ((List<?>) client.call("EVAL", CHECK, "0", prefix))
        .stream().map(String::valueOf).toList();
  }

  @Override
  public void close() {
    client.close();
  }
}
