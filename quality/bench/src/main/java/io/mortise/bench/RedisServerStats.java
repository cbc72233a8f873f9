package io.mortise.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Counters of a Redis server, from {@code INFO}. */
final class RedisServerStats implements AutoCloseable {
  private final RedisClient client;
  private final StatefulRedisConnection<String, String> connection;

  RedisServerStats(String url) {
    client = RedisClient.create(url);
    connection = client.connect();
  }

  String version() {
    return field("server", "redis_version");
  }

  long usedMemory() {
    return Long.parseLong(field("memory", "used_memory"));
  }

  /**
   * Calls per command since the server started, including calls from scripts, without {@code INFO}.
   */
  Map<String, Long> calls() {
    Map<String, Long> calls = new TreeMap<>();
    connection
        .sync()
        .info("commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_") && !line.startsWith("cmdstat_info"))
        .forEach(
            line -> {
              int colon = line.indexOf(':');
              int from = line.indexOf("calls=") + 6;
              calls.put(
                  line.substring("cmdstat_".length(), colon),
                  Long.parseLong(line.substring(from, line.indexOf(',', from))));
            });
    return calls;
  }

  /** Requests that clients sent since the server started, this one included. */
  long requests() {
    return Long.parseLong(field("stats", "total_reads_processed"));
  }

  private String field(String section, String name) {
    return connection
        .sync()
        .info(section)
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("INFO has no " + name + "."));
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown(0, 2, TimeUnit.SECONDS);
  }
}
