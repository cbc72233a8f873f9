package io.mortise.zookeeper.internal;

import io.mortise.internal.queue.OutboxLock;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Finds out of a renewal whether it keeps the session alive, by the rule of {@link
 * LeaderContactTracker}: by two requests more, a tick later, which go through the leader and write
 * nothing. Where a tick takes a large part of the TTL, renewals before help, and the session has to
 * live for longer. Never more than four requests. Guarded by its session.
 */
final class RenewalProof {
  /** How many ticks a TTL needs to have renewals prove themselves ({@code RenewalModel}). */
  private static final int PROMPT_TICKS = 4;

  private final OutboxLock guard;
  private final DelayedTaskScheduler delayedTaskScheduler;
  private final Ticker ticker;
  private final LeaderContactTracker leaderContactTracker;
  private final Duration wanted;
  private final long ttl;

  /** What has no answer yet. */
  private final List<ProofRequest> open = new ArrayList<>();

  /**
   * Of a session that nothing was sent of yet.
   *
   * @param relay in how long the leader surely pings its followers: a tick
   */
  RenewalProof(
      OutboxLock guard,
      DelayedTaskScheduler delayedTaskScheduler,
      Ticker ticker,
      Duration relay,
      Duration ttl) {
    this.guard = guard;
    this.delayedTaskScheduler = delayedTaskScheduler;
    this.ticker = ticker;
    this.leaderContactTracker = new LeaderContactTracker(relay.toNanos());
    this.wanted = session(relay, ttl);
    this.ttl = ttl.toNanos();
  }

  /** In nanoseconds. */
  long relay() {
    return leaderContactTracker.relay();
  }

  /** What the server is asked to grant. */
  int wantedMillis() {
    return millis(wanted);
  }

  /**
   * How long a session is to be: as long as the TTL, if that has four ticks. Below that a renewal
   * that proves itself comes too late after a connection that breaks; so the one that was sent a
   * tick before, or those before that, have to prove it, and the session is longer by as much:
   *
   * <ul>
   *   <li>from two ticks on, by a tick, rounded up to thirds of the TTL, which is how often the
   *       engine renews;
   *   <li>below, by two ticks.
   * </ul>
   */
  static int sessionMillis(Duration tick, Duration ttl) {
    return millis(session(tick, ttl));
  }

  private static Duration session(Duration tick, Duration ttl) {
    if (tick.multipliedBy(PROMPT_TICKS).compareTo(ttl) <= 0) {
      return ttl;
    } else if (tick.multipliedBy(2).compareTo(ttl) <= 0) {
      long thirds = -Math.floorDiv(-3 * tick.toNanos(), ttl.toNanos());
      return ttl.plus(ttl.multipliedBy(thirds).dividedBy(3));
    } else {
      return ttl.plus(tick.multipliedBy(2));
    }
  }

  private static int millis(Duration time) {
    return (int) Math.min(Integer.MAX_VALUE, (time.toNanos() + 999_999) / 1_000_000);
  }

  /** The ZooKeeper session began after that moment. */
  void sessionStarted(long sentAt) {
    leaderContactTracker.heard(sentAt);
  }

  /**
   * What was sent then was answered by the leader, just now.
   *
   * @param then told, under the guard, whether the session surely lives for a TTL from then
   */
  void confirm(
      ZooKeeperConnection zooKeeperConnection,
      long sentAt,
      long connection,
      Consumer<Boolean> then) {
    long now = ticker.nanos();
    leaderContactTracker.answered(sentAt, now, connection);
    ProofRequest question =
        new ProofRequest(zooKeeperConnection, sentAt, sentAt + ttl, now, connection, then);
    if (question.timeout() < ttl) {
      then.accept(false);
      return;
    }
    open.add(question);
    settle();
    if (!open.contains(question)) {
      return;
    }
    if (leaderContactTracker.isNear(question.until(), question.timeout())) {
      read(question, () -> follow(question));
    } else {
      later(question);
    }
  }

  /**
   * What is to be known: whether the session lives until then, a TTL from the renewal. Compared by
   * identity.
   */
  private static final class ProofRequest {
    private final ZooKeeperConnection zooKeeperConnection;
    private final long sentAt;
    private final long until;
    private final long answeredAt;
    private final long connection;
    private final Consumer<Boolean> then;

    ProofRequest(
        ZooKeeperConnection zooKeeperConnection,
        long sentAt,
        long until,
        long answeredAt,
        long connection,
        Consumer<Boolean> then) {
      this.zooKeeperConnection = zooKeeperConnection;
      this.sentAt = sentAt;
      this.until = until;
      this.answeredAt = answeredAt;
      this.connection = connection;
      this.then = then;
    }

    boolean isSame() {
      return zooKeeperConnection.isUp() && zooKeeperConnection.connectionNumber() == connection;
    }

    long until() {
      return until;
    }

    long timeout() {
      return zooKeeperConnection.client().getSessionTimeout() * 1_000_000L;
    }
  }

  /** Answers all that is proven by now, whichever request has proven it. */
  private void settle() {
    List<ProofRequest> proven =
        open.stream()
            .filter(question -> leaderContactTracker.reach(question.until(), question.timeout()))
            .toList();
    open.removeAll(proven);
    proven.forEach(question -> question.then.accept(true));
  }

  private void conclude(ProofRequest question) {
    if (open.remove(question)) {
      question.then.accept(false);
    }
  }

  /** A session that is much longer than the TTL has time for the next renewal to prove this one. */
  private void follow(ProofRequest question) {
    boolean isLong = question.timeout() - ttl >= ttl / 3 + 2 * leaderContactTracker.relay();
    if (open.contains(question) || !isLong) {
      later(question);
    }
  }

  /**
   * The second request of the three, a tick after the answer to the first, and the third. Also if
   * the question has its answer by then, from a renewal before: the next one needs this one.
   */
  private void later(ProofRequest question) {
    long left = leaderContactTracker.relay() - (ticker.nanos() - question.answeredAt);
    delayedTaskScheduler.in(
        Math.max(0, left),
        () -> guard.run(() -> read(question, () -> read(question, () -> conclude(question)))));
  }

  private void read(ProofRequest question, Runnable then) {
    if (!question.isSame()) {
      conclude(question);
      return;
    }
    if (leaderContactTracker.reach(question.sentAt, 0)) {
      // Others have proven it meanwhile.
      then.run();
      return;
    }
    long sentAt = ticker.nanos();
    question
        .zooKeeperConnection
        .client()
        .sync(
            "/",
            (rc, given, context) ->
                guard.run(
                    () -> {
                      if (rc == 0 && question.isSame()) {
                        leaderContactTracker.answered(sentAt, ticker.nanos(), question.connection);
                        settle();
                        then.run();
                      } else {
                        conclude(question);
                      }
                    }),
            null);
  }
}
