package io.mortise.zookeeper.internal;

import io.mortise.internal.queue.OutboxLock;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Determines whether a renewal keeps the session alive, by the rule of {@link
 * LeaderContactTracker}: two more requests, a tick later, which go through the leader and write
 * nothing. If a tick is a large part of the TTL, earlier renewals help, and the session has to be
 * longer. Never more than four requests. Guarded by its session.
 */
final class RenewalProof {
  /** How many ticks a TTL needs so that renewals prove themselves ({@code RenewalModel}). */
  private static final int PROMPT_TICKS = 4;

  private final OutboxLock guard;
  private final DelayedTaskScheduler delayedTaskScheduler;
  private final Ticker ticker;
  private final LeaderContactTracker leaderContactTracker;
  private final Duration wanted;
  private final long ttl;

  /** Renewals without an answer yet. */
  private final List<ProofRequest> open = new ArrayList<>();

  /**
   * For a session that has sent nothing yet.
   *
   * @param relay the time within which the leader surely pings its followers: a tick
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

  /** The session timeout to ask the server for. */
  int wantedMillis() {
    return millis(wanted);
  }

  /**
   * The session timeout: as long as the TTL, if that has four ticks. Below that, a self-proving
   * renewal comes too late after a broken connection. So an earlier renewal, sent a tick or more
   * before, has to prove it, and the session is longer by as much:
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
   * The leader has just answered the request sent then.
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

  /** A question: does the session live until then, a TTL from the renewal? Compared by identity. */
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

  /** Answers all questions that are proven by now, whichever request has proven them. */
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
   * Sends the second of the three requests, a tick after the answer to the first, and the third.
   * Also if an earlier renewal has answered the question by then, since the next one needs this
   * one.
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
      // Other requests have proven it meanwhile.
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
