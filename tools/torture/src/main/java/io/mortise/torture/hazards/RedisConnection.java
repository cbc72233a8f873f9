package io.mortise.torture.hazards;

import io.mortise.testserver.RawRedisConnection;
import java.io.IOException;
import java.util.Locale;

/** A connection to a Redis server on this host, for a naive lock. For one thread. */
final class RedisConnection extends RawRedisConnection {
  RedisConnection(int port) throws IOException {
    super(port);
  }

  /** Acquires the naive lock; false if it is held. */
  boolean lock(String name, String holder, long millis) {
    return "OK".equals(call("SET", name, holder, "NX", "PX", Long.toString(millis)));
  }

  /** The number of executions of this command since the server's start. */
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
