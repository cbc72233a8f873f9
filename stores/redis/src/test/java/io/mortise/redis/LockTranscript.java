package io.mortise.redis;

import io.mortise.redis.codec.LockCodec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs commands on {@code lock.lua} and records its exact answers, notifications and changed keys.
 * Commands also set the server's clock and the remaining lives of sessions.
 *
 * <p>Commands of one call are separated by {@code ;}:
 *
 * <pre>
 * A1 acquires [on=name] [tries] [general] [weight=1] [of=3] [tokens=5] [floor=+5] [most=5] [least=5] [label=x] [dead=B]
 * A1 adjusts [tokens=5] [weight=1] [of=3] [most=5] [least=5] [floor=+5]
 * A1 releases, A1 is closed, A1 is broken, open, sweep, sweep strictly
 * </pre>
 *
 * Others set the scene: {@code time +5}, {@code deadline +5}, {@code session A 60000} (or {@code
 * gone}, {@code unknown}; {@code disconnected}, or {@code mute} if it never listened), {@code
 * full}, {@code room}, {@code refuse SET}, {@code allow}, {@code cluster}, {@code old}, and {@code
 * redis} with any command. {@code quietly B1-70 acquires} does so for seventy attempts, unrecorded.
 * Times are µs, {@code +5} one since the run began. The id of a notification is shown as {@code
 * #10}, that of a lost lock as {@code !10}.
 *
 * <p>For one thread.
 */
final class LockTranscript {
  private static final long START = 1_790_000_000_000_000L;
  private static final String PREFIX = "m::";
  private static final int SHARERS = 1_000_000;
  private static final String RETENTION = "600000";

  /** The script's calls pass through here. */
  private static final String BEFORE =
      """
      local real, told, kept = redis, {}, {}
      local clock = tonumber(real.call('GET', 't:clock'))
      local sessions, inboxes, slots = {}, {}, real.call('EXISTS', 't:slots') == 1
      local refused = real.call('GET', 't:refused')
      local all = real.call('HGETALL', 't:sessions')
      for i = 1, #all, 2 do sessions[all[i]] = all[i + 1] end
      all = real.call('HGETALL', 't:inboxes')
      for i = 1, #all, 2 do inboxes[all[i]] = all[i + 1] end
      local count = KEYS[#KEYS] == 'm::guard' and 'SHARDNUMSUB' or 'NUMSUB'
      local function through(call, command, key, ...)
        local session = type(key) == 'string' and string.match(key, '^m::s:(.*)')
        if command == 'TIME' then
          clock = clock + 1
          return { string.format('%.0f', math.floor((clock - 1) / 1000000)), string.format('%.0f', (clock - 1) % 1000000) }
        elseif session and command == 'EXISTS' then
          return sessions[session] and 1 or 0
        elseif session and command == 'PTTL' then
          local left = sessions[session] or '-2'
          return tonumber(left) or { err = 'ERR of another slot' }
        elseif session and command == 'GET' then
          return sessions[session] and string.rep('0', 32) .. (inboxes[session] == 'mute' and '0' or '1') .. 'label'
        elseif command == 'PUBSUB' and command ~= refused then
          local inbox = ...
          if key == 'SHARDNUMSUB' and not slots then
            return { err = 'ERR unknown subcommand' }
          end
          return { inbox, key == count and not inboxes[string.match(inbox, '^m::i:(.*)')] and 1 or 0 }
        elseif command == 'SPUBLISH' and not slots then
          return { err = 'ERR unknown command' }
        elseif command == 'PUBLISH' or command == 'SPUBLISH' then
          told[#told + 1] = command .. ' ' .. key .. ' ' .. ...
          return 0
        end
        if command == refused then
          local answer = { err = 'MISCONF refused' }
          return call == real.pcall and answer or error(answer.err, 0)
        end
        local answer = call(command, key, ...)
        if type(answer) ~= 'table' or not answer.err then
          if command == 'PEXPIRE' then
            kept[key] = ...
          elseif command == 'SET' then
            kept[key] = select(3, ...)
          end
        end
        return answer
      end
      local redis = {
        call = function(...) return through(real.call, ...) end,
        pcall = function(...) return through(real.pcall, ...) end,
      }
      local function script()
      """;

  private static final String AFTER =
      """
      end
      local answers, times = script(), {}
      for key, time in pairs(kept) do
        times[#times + 1] = key
        times[#times + 1] = tostring(time)
      end
      """;

  private static final String LOOK =
      """
      local keys = {}
      for _, key in ipairs(real.call('KEYS', 'm::*')) do
        local kind, value = real.call('TYPE', key).ok, {}
        if kind == 'string' then
          value = { '', real.call('GET', key) }
        elseif kind == 'zset' then
          value = real.call('ZRANGE', key, 0, -1, 'WITHSCORES')
        elseif kind == 'hash' then
          value = real.call('HGETALL', key)
        end
        keys[#keys + 1] = { key, kind, real.call('PTTL', key), value }
      end
      return { answers, told, times, keys }
      """;

  private static final String LOOK_ONLY =
      "local real, answers, told, times = redis, {}, {}, {}\n" + LOOK;

  private static final Pattern ATTEMPT = Pattern.compile("([A-Z])\\1{11}0{7}(\\d{3})");
  private static final Pattern SESSION = Pattern.compile("([A-Z])\\1{11}");
  private static final Pattern SHORT = Pattern.compile("\\{([A-Z])(\\d*)}");
  private static final Pattern TIME = Pattern.compile("179\\d{13}");
  private static final Pattern ID = Pattern.compile("358\\d{13}");

  private static final Pattern SEVERAL = Pattern.compile("([A-Z])(\\d+)-(\\d+) (.*)");

  /** Marks an unchanged part of a key. */
  private static final String KEPT = " is kept";

  private static final String FOR_EVER = "for ever";
  private static final Map<String, String> ABSENT = Map.of(KEPT, FOR_EVER);

  /** Up to this many lines are written in full. */
  private static final int MOST = 8;

  private final ForeignClient client;
  private final String script;
  private final String look;
  private final Map<String, Map<String, String>> shown = new TreeMap<>();
  private final Map<String, String> kept = new HashMap<>();
  private final StringBuilder text = new StringBuilder();
  private long deadline;
  private boolean cluster;
  private boolean full;

  /** Uses a server of its own, which is emptied. */
  LockTranscript(ForeignClient client, String script) {
    this.client = client;
    this.script = (String) client.call("SCRIPT", "LOAD", BEFORE + script + AFTER + LOOK);
    this.look = (String) client.call("SCRIPT", "LOAD", LOOK_ONLY);
  }

  /** The record of the commands; lines that do not begin with {@code >} are skipped. */
  String run(List<String> lines) {
    client.call("FLUSHALL");
    full = false;
    shown.clear();
    kept.clear();
    text.setLength(0);
    cluster = false;
    deadline = START * 2;
    setClock(START);
    client.call("SET", "t:slots", "");
    for (String line : lines) {
      if (line.startsWith("> ")) {
        text.append(line).append('\n');
        run(line.substring(2));
      }
    }
    return text.toString();
  }

  private void setClock(long time) {
    client.call("SET", "t:clock", Long.toString(time));
  }

  private void run(String command) {
    String[] words = command.split(" ", -1);
    switch (words[0]) {
      case "time" -> setClock(START + Long.parseLong(words[1]));
      case "deadline" -> deadline = START + Long.parseLong(words[1]);
      case "cluster" -> cluster = true;
      case "old" -> client.call("DEL", "t:slots");
      case "full" -> full = true;
      case "room" -> full = false;
      case "session" -> {
        String session = words[1].repeat(12);
        client.call("HDEL", "t:inboxes", session);
        if (words[2].equals("gone")) {
          client.call("HDEL", "t:sessions", session);
        } else if (words[2].equals("disconnected") || words[2].equals("mute")) {
          client.call("HSET", "t:inboxes", session, words[2]);
        } else {
          client.call("HSET", "t:sessions", session, words[2]);
        }
      }
      case "refuse" -> client.call("SET", "t:refused", words[1]);
      case "allow" -> client.call("DEL", "t:refused");
      case "quietly" -> quietly(command.substring(8));
      case "redis" -> {
        Matcher found = SHORT.matcher(command.substring(6));
        client.call(found.replaceAll(one -> of(one.group(1) + one.group(2))).split(" ", -1));
        take((List<?>) client.call("EVALSHA", look, "0"));
      }
      default -> call(command);
    }
  }

  /** The steps that lead to a case are not recorded. */
  private void quietly(String command) {
    int length = text.length();
    Matcher several = SEVERAL.matcher(command);
    if (several.matches()) {
      int last = Integer.parseInt(several.group(3));
      for (int i = Integer.parseInt(several.group(2)); i <= last; i++) {
        run(several.group(1) + i + " " + several.group(4));
      }
    } else {
      run(command);
    }
    text.setLength(length);
  }

  private static String of(String party) {
    String session = party.substring(0, 1).repeat(12);
    return party.length() == 1 ? session : session + digits(Long.parseLong(party.substring(1)), 10);
  }

  private static String digits(long number, int width) {
    return LockCodec.digits(number, width);
  }

  private void call(String command) {
    List<String> keys = new ArrayList<>();
    List<String> operations = new ArrayList<>();
    for (String one : command.split("; ", -1)) {
      Map<String, String> options = new HashMap<>();
      List<String> words = new ArrayList<>();
      for (String word : one.split(" ", -1)) {
        int at = word.indexOf('=');
        if (at < 0) {
          words.add(word);
        } else {
          options.put(word.substring(0, at), word.substring(at + 1));
        }
      }
      keys.add(PREFIX + "l:" + options.getOrDefault("on", "k"));
      operations.add(operation(words, options));
    }
    if (cluster) {
      keys.add(PREFIX + "guard");
    }
    List<String> call = new ArrayList<>(List.of("EVALSHA", script, Integer.toString(keys.size())));
    call.addAll(keys);
    call.addAll(List.of(PREFIX, Long.toString(deadline), RETENTION));
    call.addAll(operations);
    if (full) {
      client.call("CONFIG", "SET", "maxmemory", "1");
    }
    List<?> all = (List<?>) client.call(call.toArray(String[]::new));
    if (full) {
      client.call("CONFIG", "SET", "maxmemory", "0");
    }
    take(all);
  }

  private void take(List<?> all) {
    for (Object answer : (List<?>) all.get(0)) {
      text.append("  ").append(answer((String) answer)).append('\n');
    }
    write(((List<?>) all.get(1)).stream().map(told -> brief((String) told)).toList());
    List<?> times = (List<?>) all.get(2);
    for (int i = 0; i < times.size(); i += 2) {
      kept.put((String) times.get(i), (String) times.get(i + 1));
    }
    show((List<?>) all.get(3));
  }

  /** Of many lines, the first and the last, and those between that break the pattern. */
  private void write(List<String> lines) {
    if (lines.size() <= MOST) {
      lines.forEach(line -> text.append("  ").append(line).append('\n'));
    } else {
      text.append("  ").append(lines.get(0)).append('\n');
      text.append("  ... ").append(lines.size() - 2).append(" more, ");
      text.append(Integer.toHexString(String.join("\n", lines).hashCode())).append('\n');
      text.append("  ").append(lines.get(lines.size() - 1)).append('\n');
    }
  }

  private static String operation(List<String> words, Map<String, String> options) {
    String first = words.get(0);
    if (first.equals("open")) {
      return "o";
    } else if (first.equals("sweep")) {
      return words.size() > 1 ? "sb" : "s";
    }
    String attempt = of(first);
    return switch (words.get(1)) {
      case "releases" -> "r" + attempt;
      case "is" -> "v" + attempt + (words.get(2).equals("closed") ? "C" : "B");
      case "adjusts" ->
          "j"
              + attempt
              + digits(number(options, "tokens", 0), 4)
              + mode(options)
              + times(options)
              + digits(number(options, "floor", 0), 16);
      case "acquires" -> acquire(attempt, words, options);
      default -> throw new IllegalArgumentException("Unknown: " + words);
    };
  }

  private static String acquire(String attempt, List<String> words, Map<String, String> options) {
    String start =
        attempt + (words.contains("tries") ? "0" : "1") + digits(number(options, "tokens", 1), 4);
    String dead = options.containsKey("dead") ? of(options.get("dead")) : "";
    boolean plain =
        !words.contains("general") && Set.of("on", "tokens", "dead").containsAll(options.keySet());
    return plain
        ? "e" + start + dead
        : "a"
            + start
            + (dead.isEmpty() ? "............" : dead)
            + mode(options)
            + digits(number(options, "floor", 0), 16)
            + times(options)
            + options.getOrDefault("label", "");
  }

  private static String mode(Map<String, String> options) {
    return digits(number(options, "weight", SHARERS), 7)
        + digits(number(options, "of", SHARERS), 7);
  }

  private static String times(Map<String, String> options) {
    return digits(number(options, "most", 0), 16) + digits(number(options, "least", 0), 16);
  }

  private static long number(Map<String, String> options, String name, long otherwise) {
    String value = options.get(name);
    if (value == null) {
      return otherwise;
    }
    return value.startsWith("+") ? START + Long.parseLong(value) : Long.parseLong(value);
  }

  /** The changed parts of the keys. */
  private void show(List<?> keys) {
    Map<String, Map<String, String>> now = new TreeMap<>();
    for (Object each : keys) {
      List<?> key = (List<?>) each;
      String name = (String) key.get(0);
      Map<String, String> parts = parts(name, (String) key.get(1), (List<?>) key.get(3));
      parts.put(KEPT, (Long) key.get(2) > 0 ? kept.get(name) + " ms" : FOR_EVER);
      now.put(name, parts);
    }
    Set<String> all = new TreeSet<>(now.keySet());
    all.addAll(shown.keySet());
    for (String name : all) {
      write(changes(name, shown.getOrDefault(name, ABSENT), now.getOrDefault(name, ABSENT)));
    }
    shown.clear();
    shown.putAll(now);
  }

  private static List<String> changes(
      String key, Map<String, String> before, Map<String, String> now) {
    String name = brief(key.substring(PREFIX.length()));
    if (now.equals(ABSENT)) {
      return List.of(name + " is gone");
    }
    List<String> changes = new ArrayList<>();
    now.forEach(
        (part, value) -> {
          if (!value.equals(before.get(part))) {
            changes.add(name + brief(part) + " = " + value);
          }
        });
    before.keySet().stream()
        .filter(part -> !now.containsKey(part))
        .forEach(part -> changes.add(name + brief(part) + " is gone"));
    return changes;
  }

  /** The record, or each member or field by itself. */
  private static Map<String, String> parts(String key, String type, List<?> all) {
    char kind = key.charAt(PREFIX.length());
    Map<String, String> parts = new TreeMap<>();
    for (int i = 0; i < all.size(); i += 2) {
      String part = (String) all.get(i);
      String value = (String) all.get(i + 1);
      if (type.equals("string")) {
        parts.put("", kind == 'l' ? record(value) : brief(value));
      } else if (type.equals("hash")) {
        parts.put(" " + part, entry(value));
      } else {
        long score = Long.parseLong(value);
        parts.put(" " + part, kind == 'o' ? value : kind == 'q' ? passed(score) : id(score));
      }
    }
    return parts;
  }

  private static String passed(long time) {
    long passed = time - START;
    return time == 0 ? "0" : (passed < 0 ? "" : "+") + passed;
  }

  private static String id(long id) {
    return id == 0 ? "0" : id > 0 ? "#" + (id - 2 * START) : "!" + (id + (1L << 53) - 2 * START);
  }

  private static String brief(String text) {
    String brief =
        ATTEMPT.matcher(text).replaceAll(one -> one.group(1) + Integer.parseInt(one.group(2)));
    brief = SESSION.matcher(brief).replaceAll(one -> one.group(1));
    brief = TIME.matcher(brief).replaceAll(one -> "(" + passed(number(one)) + ")");
    return ID.matcher(brief).replaceAll(one -> "(" + id(number(one)) + ")");
  }

  private static long number(MatchResult found) {
    return Long.parseLong(found.group());
  }

  private static String record(String text) {
    String first = text.substring(0, 1);
    if (first.equals("x")) {
      return fields(text, 1, 16, 22, 1, 7, 7, 7, 16, 16, 16);
    } else if (first.equals("h") || first.equals("w")) {
      return text.length() > 82
          ? fields(text, 1, 16, 22, 4, 22, 1, 16, 16, 16, 1, 16)
          : fields(text, 1, 16, 22, 4, 22, 1, 16);
    }
    return fields(text, 1, 16, 22, 1, 16);
  }

  private static String entry(String text) {
    return text.startsWith("w")
        ? fields(text, 1, 16, 4, 7, 16, 16, 16)
        : fields(text, 1, 7, 16, 4, 16, 16, 16, 1, 16);
  }

  /** The fields of a text, as far as there are; the rest is in quotes. */
  private static String fields(String text, int... widths) {
    List<String> fields = new ArrayList<>();
    int at = 0;
    for (int width : widths) {
      if (at + width > text.length()) {
        break;
      }
      String field = text.substring(at, at + width);
      at += width;
      fields.add(
          width == 22 && field.equals(".".repeat(22))
              ? "."
              : width > 1 && field.matches("\\d+") ? withoutZeros(field) : brief(field));
    }
    if (at < text.length()) {
      fields.add("'" + text.substring(at) + "'");
    }
    return String.join(" ", fields);
  }

  private static String withoutZeros(String field) {
    String brief = brief(field);
    return brief.equals(field) ? Long.toString(Long.parseLong(field)) : brief;
  }

  private static String answer(String text) {
    char first = text.charAt(0);
    return first == 'G'
        ? fields(text, 1, 16, 4, 1, 16)
        : first == 'Q' || first == 'B' ? fields(text, 1, 7, 16, 22, 16, 16) : brief(text);
  }
}
