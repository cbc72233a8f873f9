package io.mortise.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.mortise.redis.transport.BlockingConnection;
import io.mortise.redis.transport.DirectTransport;
import io.mortise.redis.transport.Endpoint;
import io.mortise.redis.transport.EndpointResolver;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.LettuceTransport;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.redis.transport.SentinelResolver;
import io.mortise.redis.transport.TlsMismatchException;
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
record RedisConnections(
    RedisTransport ops, RedisTransport control, ReconnectListeners reconnects, Runnable closing) {
  /** How long a Sentinel may take to answer. */
  static final Duration SENTINEL_TIMEOUT = Duration.ofMillis(500);

  /** Of the names of threads. */
  private static final String PREFIX = "mortise-redis-";

  /**
   * Connects. Blocks.
   *
   * @throws io.mortise.LockException if that fails
   */
  static RedisConnections connect(RedisTarget target) {
    return switch (target.transport()) {
      case DIRECT -> directly(target);
      case LETTUCE -> byLettuce(target);
    };
  }

  /** As {@link #connect}, with a client that belongs to somebody else. */
  static RedisConnections over(RedisClient client, String display) {
    ReconnectListeners reconnects = new ReconnectListeners();
    return connect(
        name -> LettuceTransport.over(client, reconnects), reconnects, display, () -> {});
  }

  /** The same, where what was granted or renewed is only believed when replicas have it. */
  RedisConnections waitingFor(Replication replication) {
    return new RedisConnections(
        new ReplicatedTransport(ops, replication),
        new ReplicatedTransport(control, replication),
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

  private static RedisConnections directly(RedisTarget target) {
    ScheduledThreadPoolExecutor timer = timer();
    ReconnectListeners reconnects = new ReconnectListeners();
    Duration stuck = target.options().timeout();
    RedisTarget.Sentinel sentinel = target.sentinel();
    if (sentinel == null) {
      EndpointResolver there = EndpointResolver.fixed(target.endpoint());
      return connect(
          name -> DirectTransport.connect(there, PREFIX + name, timer, stuck, reconnects),
          reconnects,
          target.display(),
          timer::shutdownNow);
    }
    SentinelResolver master =
        new SentinelResolver(sentinel.servers(), sentinel.name(), target.endpoint());
    MasterTracker follower = new MasterTracker(master);
    RedisConnections redisConnections =
        connect(
            name ->
                follower.following(
                    DirectTransport.connect(master, PREFIX + name, timer, stuck, reconnects)),
            reconnects,
            target.display(),
            () -> {
              follower.close();
              timer.shutdownNow();
            });
    follower.watch(sentinel, timer, stuck);
    return redisConnections;
  }

  private static RedisConnections byLettuce(RedisTarget target) {
    ClientResources resources =
        DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .reconnectDelay(
                Delay.fullJitter(
                    Duration.ofMillis(5), Duration.ofSeconds(1), 20, TimeUnit.MILLISECONDS))
            .build();
    ReconnectListeners reconnects = new ReconnectListeners();
    return connect(
        name -> byLettuce(resources, target.endpoint(), reconnects),
        reconnects,
        target.display(),
        () -> {
          var unused = resources.shutdown(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(4_000);
        });
  }

  /** Lettuce says of a server that speaks TLS, or not, that it was too slow. */
  private static LettuceTransport byLettuce(
      ClientResources resources, Endpoint endpoint, ReconnectListeners reconnects)
      throws IOException {
    try {
      return LettuceTransport.connect(resources, endpoint, reconnects);
    } catch (RuntimeException e) {
      try {
        BlockingConnection.to(endpoint).close();
      } catch (TlsMismatchException mismatch) {
        throw mismatch;
      } catch (IOException | ErrorReplyException other) {
        e.addSuppressed(other);
      }
      throw e;
    }
  }

  private interface Connector {
    RedisTransport connect(String name) throws IOException;
  }

  private static RedisConnections connect(
      Connector connector, ReconnectListeners reconnects, String display, Runnable closing) {
    RedisTransport ops = null;
    try {
      ops = connector.connect("operations");
      return new RedisConnections(ops, connector.connect("renewals"), reconnects, closing);
    } catch (IOException | RuntimeException e) {
      close(ops);
      closing.run();
      throw e instanceof IllegalArgumentException wrong
          ? wrong
          : ServerPreflight.cannotConnect(e, display);
    }
  }

  private static void close(@Nullable RedisTransport transport) {
    if (transport != null) {
      transport.close();
    }
  }
}
