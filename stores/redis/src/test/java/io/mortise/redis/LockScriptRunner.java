package io.mortise.redis;

import static io.mortise.redis.codec.LockCodec.digits;

import io.mortise.testserver.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@code lock.lua} on a server, with the time and the session lifetimes that a test sets, and
 * records all effects: answers, notifications, and every key. For one thread.
 */
final class LockScriptRunner implements AutoCloseable {
  /** How long the record of an idle lock is kept (ms). */
  private static final long RETENTION = 60_000;

  /** Replaces calls of the server in the script; other calls reach the server. */
  private static final String BEFORE =
      """
      local now, P, told, asked = tonumber(ARGV[1]), ARGV[2], {}, {}
      local real, KEYS, ours = redis, KEYS, {}
      for i = 2, #ARGV do ours[i - 1] = ARGV[i] end
      local function server(command, key, ...)
        local _, how, millis = ...
        asked[#asked + 1] = command
          .. (command == 'PEXPIRE' and ' ' .. ... or how == 'PX' and ' ' .. millis or '')
        if command == 'TIME' then
          return { tostring(math.floor(now / 1000000)), tostring(now % 1000000) }
        elseif command == 'PTTL' and string.sub(key, 1, #P + 2) == P .. 's:' then
          local life = real.pcall('GET', key)
          if type(life) == 'table' then return life end
          return tonumber(life and string.sub(life, 1, 32) or -2)
        elseif command == 'PUBSUB' then
          asked[#asked] = 'PUBSUB ' .. key
          return { (...), real.call('EXISTS', 'unheard:' .. ...) == 0 and 1 or 0 }
        elseif command == 'PUBLISH' or command == 'SPUBLISH' then
          told[#told + 1] = (command == 'SPUBLISH' and 'slot ' or '') .. string.sub(key, #P + 1) .. ' ' .. ...
          return 0
        end
        return real.pcall(command, key, ...)
      end
      local function sure(command, key, ...)
        local answer = server(command, key, ...)
        if type(answer) == 'table' and answer.err then error(answer) end
        return answer
      end
      local function run(redis, ARGV)
      """;

  private static final String AFTER =
      """
      end
      local answers = run({ pcall = server, call = sure }, ours)
      local keys = {}
      for _, key in ipairs(real.call('KEYS', P .. '*')) do
        local kind, text, ttl = real.call('TYPE', key).ok, '?', real.call('PTTL', key)
        if kind == 'string' then
          text = real.call('GET', key)
        elseif kind == 'zset' then
          text = table.concat(real.call('ZRANGE', key, 0, -1, 'WITHSCORES'), ' ')
        elseif kind == 'hash' then
          local fields, pairs = real.call('HGETALL', key), {}
          for i = 1, #fields, 2 do pairs[#pairs + 1] = fields[i] .. '=' .. fields[i + 1] end
          table.sort(pairs)
          text = table.concat(pairs, ' ')
        end
        keys[#keys + 1] = string.sub(key, #P + 1) .. ' '
          .. (ttl < 0 and '' or 'for ' .. math.floor(ttl / 10000 + 0.5) .. '0 s: ') .. text
      end
      table.sort(keys)
      return { answers, told, keys, asked }
      """;

  private final ForeignClient client;
  private final String lock = script("lock.lua");
  private final String inspect = script("inspect.lua");

  /** The server's time (µs since 1970). */
  long now;

  /** How much longer requests may run (µs). */
  long grace;

  /** Whether the calls go to a slot of a cluster. */
  boolean cluster;

  /**
   * The result of a call.
   *
   * @param answers one for each operation
   * @param told inboxes and notifications, in order
   * @param keys all, sorted: name, time to expiry if any (to the next 10 s), value
   * @param asked the commands that were sent to the server, those that let a key expire with after
   *     how many ms
   */
  record ScriptResult(
      List<String> answers, List<String> told, List<String> keys, List<String> asked) {
    String answer() {
      return answers.get(answers.size() - 1);
    }

    /** The value of a key; empty if there is no such key. */
    String at(String key) {
      return keys.stream()
          .filter(each -> each.startsWith(key + " "))
          .map(each -> each.substring(key.length() + 1))
          .collect(Collectors.joining());
    }
  }

  LockScriptRunner(RedisServer server) {
    client = new ForeignClient(server.port());
  }

  private static String script(String file) {
    try (InputStream in = LockScriptRunner.class.getResourceAsStream(file)) {
      byte[] text = Objects.requireNonNull(in).readAllBytes();
      return BEFORE + new String(text, StandardCharsets.UTF_8) + AFTER;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** An attempt of the session named by a letter. */
  static String attempt(char session, int number) {
    return session(session) + digits(number, 10);
  }

  static String session(char session) {
    return Character.toString(session).repeat(12);
  }

  /** Acquires a plain lock exclusively, by the short paths where possible. */
  static String plain(String attempt, boolean queue, int tokens) {
    return "e" + attempt + (queue ? '1' : '0') + digits(tokens, 4);
  }

  /** The same operation, by the long path. */
  static String longer(String operation) {
    return switch (operation.charAt(0)) {
      case 'e' ->
          "a" + operation.substring(1) + ".".repeat(12) + "1000000".repeat(2) + "0".repeat(48);
      case 'r' -> operation + ".";
      default -> operation;
    };
  }

  /** Acquires a lock exclusively, by the long path. */
  static String acquire(String attempt) {
    return longer(plain(attempt, true, 1));
  }

  static String acquire(String attempt, int weight, int capacity, long most, long least) {
    return acquire(attempt, weight, capacity, 0, most, least, "");
  }

  static String acquire(
      String attempt, int weight, int capacity, long floor, long most, long least, String label) {
    return "a"
        + attempt
        + "10001"
        + ".".repeat(12)
        + digits(weight, 7)
        + digits(capacity, 7)
        + wide(floor)
        + wide(most)
        + wide(least)
        + label;
  }

  /** Acquires a share of a lock. */
  static String share(String attempt) {
    return acquire(attempt, 1, 1_000_000, 0, 0);
  }

  /** Attempts of one session that share a lock. */
  static String[] many(char session, int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(i -> share(attempt(session, i)))
        .toArray(String[]::new);
  }

  static String adjust(
      String attempt, int tokens, int weight, int capacity, long most, long least, long floor) {
    return "j"
        + attempt
        + digits(tokens, 4)
        + digits(weight, 7)
        + digits(capacity, 7)
        + wide(most)
        + wide(least)
        + wide(floor);
  }

  /** Abandons an attempt, by the long path. */
  static String abandon(String attempt) {
    return longer("r" + attempt);
  }

  /** A time or token at full width. */
  static String wide(long number) {
    return digits(number, 16);
  }

  /** Empties the server, and frees its memory. */
  void reset() {
    client.call("CONFIG", "SET", "maxmemory", "0");
    client.call("FLUSHALL");
    now = 1_700_000_000_123_456L;
    grace = 1_000_000_000;
    cluster = false;
  }

  /** Fills the memory: commands that need some are refused from now on. */
  void fill() {
    client.call("CONFIG", "SET", "maxmemory", "1");
  }

  @Nullable Object raw(String... words) {
    return client.call(words);
  }

  /** A session has that many milliseconds left; 0 if it has ended. */
  void lives(String prefix, char session, long millis) {
    client.call("DEL", "unheard:" + prefix + "i:" + session(session));
    String key = prefix + "s:" + session(session);
    if (millis == 0) {
      client.call("DEL", key);
    } else {
      client.call("SET", key, Long.toString(millis));
    }
  }

  /** A session with that many milliseconds left has said that it listens, but has no subscriber. */
  void disconnect(String prefix, char session, long life) {
    String key = prefix + "s:" + session(session);
    client.call("SET", key, digits(life, 32) + "1");
    client.call("SET", "unheard:" + prefix + "i:" + session(session), "");
  }

  /** Operations in one call; each word may begin with another lock's name and a colon. */
  ScriptResult run(String prefix, String... operations) {
    List<String> keys = new ArrayList<>();
    List<String> words = new ArrayList<>();
    for (String operation : operations) {
      int name = operation.indexOf(':') + 1;
      keys.add(prefix + "l:" + (name == 0 ? "k" : operation.substring(0, name - 1)));
      words.add(operation.substring(name));
    }
    if (cluster) {
      keys.add(prefix + "guard");
    }
    words.addAll(0, List.of(prefix, Long.toString(now + grace), Long.toString(RETENTION)));
    return call(lock, keys, words);
  }

  /** The answer of inspect.lua, with at most that many waiters and holders. */
  List<String> inspect(String prefix, int most) {
    return call(inspect, List.of(prefix + "l:k"), List.of(prefix, Integer.toString(most)))
        .answers();
  }

  private ScriptResult call(String script, List<String> keys, List<String> arguments) {
    List<String> words = new ArrayList<>(List.of("EVAL", script, Integer.toString(keys.size())));
    words.addAll(keys);
    words.add(Long.toString(now));
    words.addAll(arguments);
    List<?> done = (List<?>) client.call(words.toArray(String[]::new));
    return new ScriptResult(
        texts(done.get(0)), texts(done.get(1)), texts(done.get(2)), texts(done.get(3)));
  }

  private static List<String> texts(Object all) {
    return ((List<?>) all).stream().map(String::valueOf).toList();
  }

  @Override
  public void close() {
    client.close();
  }
}
