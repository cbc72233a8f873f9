package io.mortise.redis;

import io.mortise.FencingToken;
import io.mortise.Lease;
import io.mortise.StaleTokenException;
import io.mortise.redis.transport.LuaScript;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Lets only the current holder of a lock write to keys in Redis. Each guarded key has a fence
 * beside it, which keeps the latest token seen and its holder. A script checks the fence and writes
 * in one step.
 *
 * <pre>{@code
 * RedisFence fence =
 *     RedisFence.over((script, keys, args) -> (List<?>) jedis.eval(script, keys, args));
 * try (Lease lease = locks.lock("invoice/42").acquire()) {
 *   fence.enter("invoice:42", lease);                        // first: before anything is read
 *   String total = jedis.get("invoice:42");
 *   fence.write("invoice:42", lease, "SET", "invoice:42", add(total));
 * }
 * }</pre>
 *
 * <p>The lock may be in any store with tokens; the fence is where the data is. It refuses stale
 * holders: an earlier holder can still write until the next one has shown its token. So call {@link
 * #enter} before you read, or else the data may change before you write. Only writes through the
 * fence are checked.
 *
 * <p>A resource has one fence, hence one lock that guards it. The fence's key is {@code
 * fence:<resource>}, in the same slot of a cluster, about 100 bytes, and stays until you delete it
 * with the resource; delete neither while a stale holder may still write. After a failover that
 * lost the last writes, fence and data have lost the same ones. Thread-safe if the script executor
 * is.
 */
public final class RedisFence {
  private static final LuaScript SCRIPT = LuaScript.beside(RedisFence.class, "fence.lua");

  private final ScriptExecutor redis;

  private RedisFence(ScriptExecutor redis) {
    this.redis = redis;
  }

  /** Any client: runs a script on the server that has the keys. */
  @FunctionalInterface
  public interface ScriptExecutor {
    /**
     * Sends {@code EVAL}, or the like.
     *
     * @return the script's list of numbers, texts (or bytes of UTF-8) and nulls
     */
    List<?> eval(String script, List<String> keys, List<String> args);
  }

  /**
   * Uses any client; the example above uses Jedis. For Lettuce there is {@code LettuceFence} in the
   * artifact {@code mortise-redis-lettuce}.
   */
  public static RedisFence over(ScriptExecutor redis) {
    return new RedisFence(redis);
  }

  /**
   * Enters as {@link #enter(String, FencingToken)}.
   *
   * @throws io.mortise.LeaseLostException if the lease is lost
   * @throws io.mortise.LeaseInDoubtException if it is in doubt, after a restart of its store
   * @throws IllegalStateException if the lease is not exclusive
   * @throws io.mortise.UnsupportedByStoreException if its store has no tokens
   */
  public void enter(String resource, Lease lease) {
    enter(resource, lease.fencingToken());
  }

  /**
   * Installs the token, so that earlier ones are refused from now on. Call it before you read the
   * data that you are going to write. May be called again. Blocks for one round trip.
   *
   * @param resource the key that is guarded
   * @throws StaleTokenException if a later token was seen, or the same from another holder
   * @throws IllegalArgumentException if no key in the slot of the resource can be named after it
   */
  public void enter(String resource, FencingToken token) {
    run(resource, token, List.of());
  }

  /**
   * Writes as {@link #write(String, FencingToken, String...)}.
   *
   * @throws io.mortise.LeaseLostException if the lease is lost
   * @throws io.mortise.LeaseInDoubtException if it is in doubt, after a restart of its store
   * @throws IllegalStateException if the lease is not exclusive
   * @throws io.mortise.UnsupportedByStoreException if its store has no tokens
   */
  public @Nullable Object write(String resource, Lease lease, String... command) {
    return write(resource, lease.fencingToken(), command);
  }

  /**
   * Runs a command, unless the fence has seen a later token; installs the token. Blocks for one
   * round trip. If the client fails it is unknown whether the command was run; a retry under the
   * same token is let through.
   *
   * @param resource the key that is guarded
   * @param command word by word, for example {@code "HSET", "invoice:42", "total", "90"}; on a
   *     cluster its keys must be in the slot of the resource
   * @return the command's reply, as a script sees it: a number, a text, a list, or null
   * @throws StaleTokenException if a later token was seen, or the same from another holder; nothing
   *     was written
   * @throws IllegalArgumentException if there is no command, or no key in the slot of the resource
   *     can be named after it
   */
  public @Nullable Object write(String resource, FencingToken token, String... command) {
    if (command.length == 0) {
      throw new IllegalArgumentException("There is no command to write to '" + resource + "' by.");
    }
    List<?> answer = run(resource, token, List.of(command));
    return answer.size() < 2 ? null : answer.get(1);
  }

  private List<?> run(String resource, FencingToken token, List<String> command) {
    List<String> args = new ArrayList<>(command.size() + 2);
    args.add(digits(token.value()));
    args.add(token.holder());
    args.addAll(command);
    List<?> answer = redis.eval(SCRIPT.text(), List.of(fenceOf(resource), resource), args);
    if (text(answer.get(0)).equals("1")) {
      return answer;
    }
    throw new StaleTokenException(
        "the fence of key '" + resource + "'",
        token,
        Long.parseLong(text(answer.get(1))),
        text(answer.get(2)));
  }

  private static String text(@Nullable Object part) {
    return part instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.UTF_8)
        : String.valueOf(part);
  }

  /** Padded to the digits of the greatest token, so that texts compare as numbers do. */
  private static String digits(long token) {
    return String.format(Locale.ROOT, "%019d", token);
  }

  /**
   * The script itself, for scripts of your own that begin with the same check. Its head describes
   * arguments and replies.
   */
  public static String script() {
    return SCRIPT.text();
  }

  /**
   * The key of a resource's fence, in the slot of the resource.
   *
   * @throws IllegalArgumentException if there is none: the resource has a closing brace but no hash
   *     tag
   */
  public static String fenceOf(String resource) {
    int open = resource.indexOf('{');
    int close = open < 0 ? -1 : resource.indexOf('}', open + 1);
    if (close > open + 1) {
      return "fence:" + resource;
    }
    if (resource.indexOf('}') >= 0) {
      throw new IllegalArgumentException(
          "No fence can be named after key '"
              + resource
              + "': it has a closing brace but no hash tag, so no other key is known to be in its slot.");
    }
    return "fence:{" + resource + "}";
  }

  /**
   * The latest token in a fence's value, as read by {@code GET} of {@link #fenceOf}; for display
   * and for moving to another store. Base no decision on it: it may have risen meanwhile.
   *
   * @return empty if there is none
   */
  public static OptionalLong tokenIn(@Nullable String value) {
    return value == null || value.length() < 19
        ? OptionalLong.empty()
        : OptionalLong.of(Long.parseLong(value.substring(0, 19)));
  }
}
