package io.mortise.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.mortise.redis.wire.Destination;
import io.mortise.redis.wire.DirectWire;
import io.mortise.redis.wire.LettuceWire;
import io.mortise.redis.wire.RedisWire;
import io.mortise.redis.wire.SentinelMaster;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a store: one for operations on locks, and one for renewals and everything that
 * looks around, so that no backlog delays a renewal.
 *
 * @param reconnects tells when one of them was made anew
 * @param closing ends what was made for both
 */
record Wires(RedisWire ops, RedisWire control, Reconnects reconnects, Runnable closing) {
  /** How long a Sentinel may take to answer. */
  static final Duration SENTINEL_TIMEOUT = Duration.ofMillis(500);

  /** Of the names of threads. */
  private static final String PREFIX = "mortise-redis-";

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
    Reconnects reconnects = new Reconnects();
    return connect(name -> LettuceWire.over(client, reconnects), reconnects, display, () -> {});
  }

  /** The same, where what was granted or renewed is only believed when replicas have it. */
  Wires waitingFor(Replication replication) {
    return new Wires(
        new ReplicatedWire(ops, replication),
        new ReplicatedWire(control, replication),
        reconnects,
        closing);
  }

  static ScheduledThreadPoolExecutor timer() {
    return new ScheduledThreadPoolExecutor(
        1,
        task -> {
          Thread thread = new Thread(task, "mortise-redis-timer");
          thread.setDaemon(true);
          return thread;
        });
  }

  private static Wires directly(RedisTarget target) {
    ScheduledThreadPoolExecutor timer = timer();
    Reconnects reconnects = new Reconnects();
    Duration stuck = target.options().timeout();
    RedisTarget.Sentinel sentinel = target.sentinel();
    if (sentinel == null) {
      Destination there = Destination.fixed(target.endpoint());
      return connect(
          name -> DirectWire.connect(there, PREFIX + name, timer, stuck, reconnects),
          reconnects,
          target.display(),
          timer::shutdownNow);
    }
    SentinelMaster master =
        new SentinelMaster(sentinel.servers(), sentinel.name(), target.endpoint());
    MasterFollower follower = new MasterFollower(master);
    Wires wires =
        connect(
            name ->
                follower.following(
                    DirectWire.connect(master, PREFIX + name, timer, stuck, reconnects)),
            reconnects,
            target.display(),
            () -> {
              follower.close();
              timer.shutdownNow();
            });
    follower.watch(sentinel, timer, stuck);
    return wires;
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
    Reconnects reconnects = new Reconnects();
    return connect(
        name -> LettuceWire.connect(resources, target.endpoint(), reconnects),
        reconnects,
        target.display(),
        () -> {
          var unused = resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(4_000);
        });
  }

  private interface Connector {
    RedisWire connect(String name) throws IOException;
  }

  private static Wires connect(
      Connector connector, Reconnects reconnects, String display, Runnable closing) {
    RedisWire ops = null;
    try {
      ops = connector.connect("operations");
      return new Wires(ops, connector.connect("renewals"), reconnects, closing);
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
