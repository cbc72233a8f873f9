package io.mortise.torture.hazards;

import io.mortise.testserver.RawRedisConnection;
import java.io.IOException;
import java.util.Locale;

/**
 * A connection to a Redis server on this host that sends what a naive lock sends. For one thread.
 */
final class RedisConnection extends RawRedisConnection {
  RedisConnection(int port) throws IOException {
    super(port);
  }

  /** The naive lock: whether it was free and is ours now. */
  boolean lock(String name, String holder, long millis) {
    return "OK".equals(call("SET", name, holder, "NX", "PX", Long.toString(millis)));
  }

  /** How often the server has executed this command since its start. */
  long executed(String command) {
    String line = "cmdstat_" + command.toLowerCase(Locale.ROOT) + ":calls=";
    return String.valueOf(call("INFO", "commandstats"))
        .lines()
        .filter(each -> each.startsWith(line))
        .mapToLong(each -> Long.parseLong(each.substring(line.length(), each.indexOf(','))))
        .findFirst()
        .orElse(0);
  }
}
