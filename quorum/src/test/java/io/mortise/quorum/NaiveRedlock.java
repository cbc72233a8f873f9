package io.mortise.quorum;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.mortise.Lease;
import io.mortise.testkit.server.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;

/** The published algorithm without what must surround it: the positive control of fault tests. */
final class NaiveRedlock implements AutoCloseable {
  private final List<RedisServer> servers;
  private final List<RedisClient> clients = new ArrayList<>();

  /** Why there was no vote, for a debugger. */
  private final List<RedisException> down = new ArrayList<>();

  private final String me = UUID.randomUUID().toString();

  NaiveRedlock(List<RedisServer> servers) {
    this.servers = servers;
  }

  boolean acquire(String name, Duration ttl) {
    SetArgs terms = SetArgs.Builder.nx().px(ttl.toMillis());
    int granted = count(redis -> "OK".equals(redis.set(name, me, terms)));
    boolean holds = granted >= servers.size() / 2 + 1;
    if (!holds) {
      count(redis -> me.equals(redis.get(name)) && redis.del(name) > 0);
    }
    return holds;
  }

  /** Whether any server where it was granted, and did not forget, still has it. */
  boolean counts(String name) {
    return count(redis -> me.equals(redis.get(name))) > 0;
  }

  private int count(Predicate<RedisCommands<String, String>> step) {
    int count = 0;
    for (RedisServer server : servers) {
      RedisClient client = RedisClient.create(server.url());
      clients.add(client);
      try {
        count += step.test(client.connect().sync()) ? 1 : 0;
      } catch (RedisException noVote) {
        down.add(noVote);
      }
    }
    return count;
  }

  static boolean closed(Lease lease) {
    lease.close();
    return true;
  }

  @Override
  public void close() {
    clients.forEach(client -> client.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
  }
}
