package io.mortise.redis.sentinel;

import io.mortise.redis.transport.DirectTransport;
import io.mortise.redis.transport.Endpoint;
import io.mortise.spi.time.Ticker;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps all connections on the one master that the Sentinels name. A broken connection finds it by
 * itself; a connection to a demoted primary is dropped here.
 */
public final class MasterTracker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(MasterTracker.class);

  /**
   * Interval at which all Sentinels are asked although nothing has changed. Their earlier answers
   * tell a Sentinel that was reset from one that is behind.
   */
  private static final long ASK_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final SentinelResolver master;
  private final Ticker ticker;
  private final List<DirectTransport> transports = new CopyOnWriteArrayList<>();
  private @Nullable SentinelListener listener;

  /** When all Sentinels were asked last. */
  private volatile long asked;

  public MasterTracker(SentinelResolver master, Ticker ticker) {
    this.master = master;
    this.ticker = ticker;
    this.asked = ticker.nanos();
  }

  public DirectTransport following(DirectTransport transport) {
    transports.add(transport);
    return transport;
  }

  /** Follows what these Sentinels tell of the master of this name. */
  public void watch(
      List<Endpoint> sentinels, String name, ScheduledExecutorService timer, Duration stuck) {
    listener = new SentinelListener(sentinels, name, timer, ticker, stuck, this::told);
  }

  /** Runs on the thread that listens to Sentinels, which has nothing else to do. */
  private void told(String address) {
    boolean confirmed = transports.stream().allMatch(transport -> leadsTo(transport, address));
    if (confirmed && ticker.nanos() - asked < ASK_NANOS) {
      return;
    }
    asked = ticker.nanos();
    Endpoint named;
    try {
      // One Sentinel may be behind the others, so all are asked before a connection is dropped.
      named = master.resolve();
    } catch (IOException | RuntimeException e) {
      log.debug("Sentinel named {} the master, which the others do not confirm.", address, e);
      return;
    }
    for (DirectTransport transport : transports) {
      if (!leadsTo(transport, named.toString())) {
        transport.reset();
        transport.retryNow();
      }
    }
  }

  private static boolean leadsTo(DirectTransport transport, String address) {
    Endpoint peer = transport.peer();
    return peer != null && peer.toString().equals(address);
  }

  @Override
  public void close() {
    if (listener != null) {
      listener.close();
    }
  }
}
