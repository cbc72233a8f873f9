package io.mortise.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.mortise.redis.wire.DirectWire;
import io.mortise.redis.wire.LettuceWire;
import io.mortise.redis.wire.RedisWire;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a store: one for operations on locks, and one for renewals and everything that
 * looks around, so that no backlog delays a renewal.
 *
 * @param closing ends what was made for both
 */
record Wires(RedisWire ops, RedisWire control, Runnable closing) {
  /**
   * Connects. Blocks.
   *
   * @throws io.mortise.LockException if that fails
   */
  static Wires connect(RedisTarget target) {
    return switch (target.wire()) {
      case DIRECT -> directly(target);
      case LETTUCE -> byLettuce(target);
    };
  }

  /** As {@link #connect}, with a client that belongs to somebody else. */
  static Wires over(RedisClient client, String display) {
    return connect(name -> LettuceWire.over(client), display, () -> {});
  }

  private static Wires directly(RedisTarget target) {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "mortise-redis-timer");
              thread.setDaemon(true);
              return thread;
            });
    Duration stuck = target.options().timeout();
    return connect(
        name -> DirectWire.connect(target.endpoint(), "mortise-redis-" + name, timer, stuck),
        target.display(),
        timer::shutdownNow);
  }

  private static Wires byLettuce(RedisTarget target) {
    ClientResources resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .reconnectDelay(
                Delay.fullJitter(
                    Duration.ofMillis(5), Duration.ofSeconds(1), 20, TimeUnit.MILLISECONDS))
            .build();
    return connect(
        name -> LettuceWire.connect(resources, target.endpoint()),
        target.display(),
        () -> {
          var unused = resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(4_000);
        });
  }

  private interface Connector {
    RedisWire connect(String name) throws IOException;
  }

  private static Wires connect(Connector connector, String display, Runnable closing) {
    RedisWire ops = null;
    try {
      ops = connector.connect("operations");
      return new Wires(ops, connector.connect("renewals"), closing);
    } catch (IOException | RuntimeException e) {
      close(ops);
      closing.run();
      throw e instanceof IllegalArgumentException wrong
          ? wrong
          : ServerCheck.cannotConnect(e, display);
    }
  }

  private static void close(@Nullable RedisWire wire) {
    if (wire != null) {
      wire.close();
    }
  }
}
