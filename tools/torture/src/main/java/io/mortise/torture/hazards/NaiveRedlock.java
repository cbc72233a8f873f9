package io.mortise.torture.hazards;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Redlock as published, without additional safeguards: {@code SET NX PX} on each server, a majority
 * holds. A server that does not answer at once has no vote. For one thread.
 */
final class NaiveRedlock {
  private static final int PATIENCE_MILLIS = 200;

  private final List<Integer> ports;
  private final String holder;

  NaiveRedlock(List<Integer> ports, String holder) {
    this.ports = ports;
    this.holder = holder;
  }

  /** Returns the number of servers that grant it now, or have granted it before. */
  int lock(String name, long millis) {
    int votes = 0;
    for (int port : ports) {
      try (RedisConnection server = new RedisConnection(port)) {
        server.patience(PATIENCE_MILLIS);
        votes += server.lock(name, holder, millis) || holds(server, name) ? 1 : 0;
      } catch (IOException | UncheckedIOException e) {
        // No vote.
      }
    }
    return votes;
  }

  private boolean holds(RedisConnection server, String name) {
    return holder.equals(server.call("GET", name));
  }

  boolean isMajority(int votes) {
    return votes > ports.size() / 2;
  }
}
