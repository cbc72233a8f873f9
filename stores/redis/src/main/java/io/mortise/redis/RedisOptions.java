package io.mortise.redis;

import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.regex.Pattern;

/**
 * How to use a Redis.
 *
 * @param namespace keeps applications apart on one server; up to 64 letters, digits, {@code . _ -},
 *     or empty
 * @param timeout how long an answer may take; an unanswered request is not executed later either.
 *     100 ms to one minute
 * @param retention how long the record of an idle lock is kept, for its token counter and its last
 *     end; at least one minute
 * @param acceptEviction whether a server that evicts keys, and so may forget locks, is used all the
 *     same
 * @param strictExpiry whether sessions are not expired by the server's clock. A contender must then
 *     see the beat unchanged for one TTL on its own monotonic clock. A crashed holder's lock is
 *     free after up to two TTLs, and there are no at-most and at-least times. All clients of a
 *     namespace must agree on it
 */
public record RedisOptions(
    String namespace,
    Duration timeout,
    Duration retention,
    boolean acceptEviction,
    boolean strictExpiry) {
  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._-]{0,64}");

  /** No namespace, 3 s, 10 min, no eviction. */
  public static final RedisOptions DEFAULT =
      new RedisOptions("", Duration.ofSeconds(3), Duration.ofMinutes(10), false, false);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a value is not as described above
   */
  public RedisOptions {
    if (!NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException(
          "'" + namespace + "' is not a namespace. Use up to 64 letters, digits, '.', '_', '-'.");
    }
    if (timeout.compareTo(Duration.ofMillis(100)) < 0
        || timeout.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException(
          "The timeout " + DurationText.formatExact(timeout) + " is not within 100ms and 1m.");
    }
    if (retention.compareTo(RedisStore.SHORTEST_RETENTION) < 0
        || retention.compareTo(Duration.ofDays(3650)) > 0) {
      throw new IllegalArgumentException(
          "The retention " + DurationText.format(retention) + " is not within 1m and 10 years.");
    }
  }

  /** The same with this namespace. */
  public RedisOptions withNamespace(String other) {
    return new RedisOptions(other, timeout, retention, acceptEviction, strictExpiry);
  }

  /** The same with this timeout. */
  public RedisOptions withTimeout(Duration other) {
    return new RedisOptions(namespace, other, retention, acceptEviction, strictExpiry);
  }

  /** The same with this retention. */
  public RedisOptions withRetention(Duration other) {
    return new RedisOptions(namespace, timeout, other, acceptEviction, strictExpiry);
  }

  /** The same, with eviction accepted or not. */
  public RedisOptions withAcceptEviction(boolean other) {
    return new RedisOptions(namespace, timeout, retention, other, strictExpiry);
  }

  /** The same, with strict expiry or not. */
  public RedisOptions withStrictExpiry(boolean other) {
    return new RedisOptions(namespace, timeout, retention, acceptEviction, other);
  }

  /** The beginning of every key. A namespace has no colon, so no two namespaces share keys. */
  String prefix() {
    return "m:" + namespace + ":";
  }
}
