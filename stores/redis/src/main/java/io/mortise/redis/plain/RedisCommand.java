package io.mortise.redis.plain;

import io.mortise.redis.transport.LuaScript;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A command.
 *
 * @param script the script it runs, for a server that has forgotten it; null for other commands
 */
record RedisCommand(List<String> words, @Nullable LuaScript script) {
  static RedisCommand of(String... words) {
    return new RedisCommand(Arrays.asList(words), null);
  }

  static RedisCommand of(LuaScript script, List<String> keys, List<String> args) {
    List<String> words = new ArrayList<>(3 + keys.size() + args.size());
    words.addAll(List.of("EVALSHA", script.sha(), Integer.toString(keys.size())));
    words.addAll(keys);
    words.addAll(args);
    return new RedisCommand(words, script);
  }

  String[] array() {
    return words.toArray(String[]::new);
  }

  /** The same command with the script's text, which loads it again; only for script calls. */
  RedisCommand whole(LuaScript of) {
    List<String> whole = new ArrayList<>(words);
    whole.set(0, "EVAL");
    whole.set(1, of.text());
    return new RedisCommand(whole, null);
  }
}
