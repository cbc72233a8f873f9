package io.mortise.bench.subject;

import java.net.URI;

/**
 * Where the stores of a run are.
 *
 * @param redis URL of the Redis server; empty if there is none
 * @param sqlite file of the SQLite database; empty if there is none
 */
public record Stores(String redis, String sqlite) {
  String redisHost() {
    return URI.create(redis).getHost();
  }

  int redisPort() {
    int port = URI.create(redis).getPort();
    return port < 0 ? 6379 : port;
  }
}
