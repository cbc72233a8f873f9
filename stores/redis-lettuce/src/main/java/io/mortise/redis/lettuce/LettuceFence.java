package io.mortise.redis.lettuce;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisScriptingCommands;
import io.mortise.redis.RedisFence;
import io.mortise.redis.transport.LuaScript;
import java.util.List;

/** Makes fences whose script Lettuce runs. */
public final class LettuceFence {
  private static final String SHA = LuaScript.of(RedisFence.script()).sha();

  private LettuceFence() {}

  /** Uses {@code connection.sync()}, of one server or of a cluster. Sends nothing. */
  public static RedisFence over(RedisScriptingCommands<String, String> redis) {
    return RedisFence.over(
        (script, keys, args) -> {
          String[] names = keys.toArray(String[]::new);
          String[] values = args.toArray(String[]::new);
          try {
            return redis.<List<?>>evalsha(SHA, ScriptOutputType.MULTI, names, values);
          } catch (RedisNoScriptException e) {
            return redis.<List<?>>eval(script, ScriptOutputType.MULTI, names, values);
          }
        });
  }
}
