package io.mortise.memcached;

import io.mortise.memcached.MetaConnection.ConnectionCheck;
import io.mortise.memcached.MetaException.FailureKind;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.server.ServerIdentity;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the server's clock, by an item that shows it: before each renewal, and first on a new
 * connection. A new connection is accepted by the thread that sets the clock, which sets it next.
 * The item is gone after a restart or a flush, and the log says so. No two servers have the same
 * one, so it also shows connections that lead to different servers. Thread-safe.
 */
final class ServerClockReader implements ConnectionCheck {
  private static final Logger log = LoggerFactory.getLogger(ServerClockReader.class);

  /** For the thread that sets the clock to go on, after it has accepted the connection. */
  private static final long ACCEPTED_MILLIS = 10;

  /** The longest that memcached takes for a duration; beyond, it is a date. */
  private static final long CLOCK_SECONDS = TimeUnit.DAYS.toSeconds(30);

  /** A measure that is so much too small would find too many later readings behind. */
  private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final String DIFFERENT =
      "Two connections have met different items: the server has just been flushed or restarted, or its address leads to different servers.";

  private final MemcachedTarget target;
  private final Ticker ticker;
  private final String key;
  private final MetaCommand reading;
  private final ServerIdentity identity;

  /** Null if the server has no room for the item. Replaced with the connection. */
  private volatile @Nullable ServerClock clock;

  ServerClockReader(MemcachedTarget target, Ticker ticker) {
    this.target = target;
    this.ticker = ticker;
    this.key = ItemKey.ofClock(target.prefix());
    this.identity = ServerIdentity.renewedByRestart("memcached servers", target.toString());
    this.reading = MetaCommand.meta("mg " + key + " v t");
  }

  @Override
  public void check(MetaConnection connection) throws IOException {
    try {
      var unused = new CountDownLatch(1).await(ACCEPTED_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new IOException("The thread was interrupted.", e);
    }
    long sent = ticker.nanos();
    // Not the same one after a restart: the server's own numbers of items begin anew.
    String item = UUID.randomUUID().toString();
    List<MetaReply> replies = connection.ask(adding(item), reading);
    long now = ticker.nanos();
    MetaReply added = replies.get(0);
    MetaReply found = replies.get(1);
    if (now - sent > SLOW_NANOS) {
      throw new SlowAnswerException(Duration.ofNanos(now - sent), Duration.ofNanos(SLOW_NANOS));
    } else if (!found.is("VA") && !added.isOutOfMemory()) {
      throw new IOException("The server answered in another form: " + added.shown());
    }
    meet(connection, found, now);
    ServerClock first =
        found.is("VA") ? new ServerClock(found.value(), found.number('t'), sent) : null;
    ServerClock before = clock;
    if (before != null && !before.hasEnded(now) && !found.value().equals(before.item())) {
      log.warn(
          "Memcached has forgotten items, locks perhaps: it was restarted or flushed, or it evicts (store={}). Leases that are gone are lost at once.",
          target);
    }
    clock = first;
  }

  /** The check of connections for requests: that they lead to the same server. */
  void checkRequests(MetaConnection connection) throws IOException {
    meet(
        connection,
        connection.ask(adding(UUID.randomUUID().toString()), reading).get(1),
        ticker.nanos());
  }

  private void meet(MetaConnection connection, MetaReply found, long now) throws IOException {
    connection.meets(found.value());
    String conflict = found.is("VA") ? identity.conflict(found.value(), now) : null;
    if (conflict != null) {
      throw new IOException(conflict);
    }
  }

  private MetaCommand adding(String item) {
    return MetaCommand.add(key, CLOCK_SECONDS, item);
  }

  /**
   * Reads the clock by the connection for renewals. Fails if it is behind, or if the connection for
   * requests has met another one. These connections are made anew then: after that the clock is
   * right, and both lead to one server, or are refused.
   */
  CompletableFuture<?> read(MetaTransport renewals, MetaTransport requests) {
    return renewals
        .call(List.of(reading))
        .thenCompose(
            replies -> {
              MetaException doubt = doubt(replies.get(0));
              MetaConnection there = requests.connection();
              if (there != null && there.hasMetOther(replies.get(0).value())) {
                requests.reset();
                doubt = doubt == null ? unanswered(DIFFERENT) : doubt;
              }
              if (doubt == null) {
                return CompletableFuture.completedFuture(replies);
              }
              renewals.reset();
              return CompletableFuture.failedFuture(doubt);
            });
  }

  private static MetaException unanswered(String why) {
    return new MetaException(FailureKind.UNANSWERED, why, null);
  }

  private @Nullable MetaException doubt(MetaReply found) {
    ServerClock known = clock;
    if (known == null) {
      return new MetaException(FailureKind.FULL, "The server has no memory left.", null);
    } else if (!found.is("VA") || !found.value().equals(known.item())) {
      return unanswered("The server has forgotten items: it was flushed, or evicted them.");
    } else if (known.isBehind(found.number('t'), ticker.nanos())) {
      return unanswered(
          "The server stood still for a moment, so what it was told last may expire early.");
    }
    return null;
  }
}
