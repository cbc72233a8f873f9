package io.mortise.redis;

import io.mortise.internal.runtime.DaemonThreads;
import io.mortise.redis.sentinel.MasterTracker;
import io.mortise.redis.sentinel.SentinelResolver;
import io.mortise.redis.transport.BlockingConnection;
import io.mortise.redis.transport.DirectTransport;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.RedisTransport;
import io.mortise.redis.transport.SameServer;
import io.mortise.redis.transport.TlsMismatchException;
import io.mortise.redis.transport.TransportFactory;
import io.mortise.redis.transport.TransportListener;
import io.mortise.redis.transport.TransportProvider;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a store: one for operations on locks, and one for renewals and inspection, so
 * that no backlog delays a renewal.
 *
 * @param reconnects tells when a connection was reopened
 * @param closing closes resources that both share
 * @param sentinel whether Sentinels choose the server
 */
record RedisConnections(
    RedisTransport ops,
    RedisTransport control,
    ReconnectListeners reconnects,
    Runnable closing,
    boolean sentinel) {
  /** How long a Sentinel may take to be connected to, and to answer each question. */
  static final Duration SENTINEL_TIMEOUT = Duration.ofSeconds(2);

  /** Of thread names. */
  private static final String PREFIX = "mortise-redis-";

  /**
   * Connects. Blocks.
   *
   * @throws io.mortise.LockException if connecting fails
   */
  static RedisConnections connect(RedisTarget target, Ticker ticker) {
    TransportProvider library = target.library();
    return library == null
        ? directly(target, ticker)
        : over(probing(library.to(target.endpoint()), target, ticker), target.display());
  }

  /** Detects a TLS mismatch, which a client library reports as a timeout. */
  private static TransportFactory probing(
      TransportFactory transports, RedisTarget target, Ticker ticker) {
    return new TransportFactory() {
      @Override
      public RedisTransport connect(TransportListener listener) throws IOException {
        try {
          return transports.connect(listener);
        } catch (IOException | RuntimeException e) {
          try {
            BlockingConnection.to(target.endpoint(), ticker).close();
          } catch (TlsMismatchException mismatch) {
            throw mismatch;
          } catch (IOException | ErrorReplyException other) {
            e.addSuppressed(other);
          }
          throw e;
        }
      }

      @Override
      public void close() {
        transports.close();
      }
    };
  }

  /** Connects as {@link #connect} does, by a client library. */
  static RedisConnections over(TransportFactory transports, String display) {
    ReconnectListeners reconnects = new ReconnectListeners();
    RedisConnections made =
        connect(
            name -> transports.connect(reconnects), reconnects, display, transports::close, false);
    try {
      SameServer.require(made.ops(), made.control(), display);
    } catch (IOException e) {
      close(made.ops());
      close(made.control());
      transports.close();
      throw ServerPreflight.cannotConnect(e, display);
    }
    return made;
  }

  /** The same connections, but grants and renewals count only once replicas have them. */
  RedisConnections waitingFor(Replication replication) {
    return new RedisConnections(
        new ReplicatedTransport(ops, replication),
        new ReplicatedTransport(control, replication),
        reconnects,
        closing,
        sentinel);
  }

  static ScheduledThreadPoolExecutor timer() {
    return new ScheduledThreadPoolExecutor(1, DaemonThreads.named("mortise-redis-timer"));
  }

  private static RedisConnections directly(RedisTarget target, Ticker ticker) {
    ScheduledThreadPoolExecutor timer = timer();
    ReconnectListeners reconnects = new ReconnectListeners();
    Duration stuck = target.options().timeout();
    RedisTarget.Sentinel sentinel = target.sentinel();
    if (sentinel == null) {
      SameServer there = new SameServer(target.endpoint(), ticker);
      return connect(
          name -> {
            SameServer.ServerMember member = there.member();
            DirectTransport transport =
                DirectTransport.connect(member, PREFIX + name, timer, ticker, stuck, reconnects);
            member.belongsTo(transport);
            return transport;
          },
          reconnects,
          target.display(),
          timer::shutdownNow,
          false);
    }
    SentinelResolver master =
        new SentinelResolver(sentinel.servers(), sentinel.name(), target.endpoint(), ticker);
    MasterTracker follower = new MasterTracker(master, ticker);
    RedisConnections redisConnections =
        connect(
            name ->
                follower.following(
                    DirectTransport.connect(
                        master, PREFIX + name, timer, ticker, stuck, reconnects)),
            reconnects,
            target.display(),
            () -> {
              follower.close();
              timer.shutdownNow();
            },
            true);
    follower.watch(sentinel.servers(), sentinel.name(), timer, stuck);
    return redisConnections;
  }

  private interface TransportConnector {
    RedisTransport connect(String name) throws IOException;
  }

  private static RedisConnections connect(
      TransportConnector connector,
      ReconnectListeners reconnects,
      String display,
      Runnable closing,
      boolean sentinel) {
    RedisTransport ops = null;
    try {
      ops = connector.connect("operations");
      return new RedisConnections(
          ops, connector.connect("renewals"), reconnects, closing, sentinel);
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
