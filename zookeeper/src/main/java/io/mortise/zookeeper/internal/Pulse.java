package io.mortise.zookeeper.internal;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Finds out of a renewal whether it keeps the session alive, by the rule of {@link Touches}: by
 * what was sent before and one request more, or by two more, a tick later. Guarded by its session.
 */
public final class Pulse {
  private final Guard guard;
  private final Timer timer;
  private final Touches touches;
  private final long ttl;

  /**
   * Of a session that nothing was sent of yet.
   *
   * @param relay in how long the leader surely pings its followers: a tick
   */
  public Pulse(Guard guard, Timer timer, Duration relay, Duration ttl) {
    this.guard = guard;
    this.timer = timer;
    this.touches = new Touches(relay.toNanos());
    this.ttl = ttl.toNanos();
  }

  /** In nanoseconds. */
  public long relay() {
    return touches.relay();
  }

  /** What the server is asked to grant: longer than the TTL by what lies between two renewals. */
  public int wantedMillis() {
    long slack = Math.max(ttl / 2, ttl / 3 + 2 * touches.relay());
    return (int) Math.min(Integer.MAX_VALUE, (ttl + slack) / 1_000_000);
  }

  /** The ZooKeeper session began after that moment. */
  public void born(long sentAt) {
    touches.began(sentAt);
  }

  /**
   * What was sent then was answered by the leader, just now. Asks once more, and, if what was sent
   * before does not suffice, again a tick later.
   *
   * @param then told, under the guard, whether the session surely lives for a TTL from then
   */
  public void confirm(Handle handle, long sentAt, long connection, Consumer<Boolean> then) {
    long now = System.nanoTime();
    touches.answered(sentAt, now, connection);
    ask(new Question(handle, sentAt, now, connection, then));
  }

  /** What is to be known: whether the session lives for a TTL from when something was sent. */
  private record Question(
      Handle handle, long sentAt, long answeredAt, long connection, Consumer<Boolean> then) {
    boolean isSame() {
      return handle.isUp() && handle.connection() == connection;
    }

    long timeout() {
      return handle.client().getSessionTimeout() * 1_000_000L;
    }
  }

  private void ask(Question question) {
    if (touches.reach(question.sentAt() + ttl, question.timeout())) {
      question.then().accept(true);
    } else if (!question.isSame() || question.timeout() < ttl) {
      question.then().accept(false);
    } else {
      long sentAt = System.nanoTime();
      question
          .handle()
          .client()
          .sync("/", (rc, given, context) -> guard.run(() -> answered(question, sentAt, rc)), null);
    }
  }

  private void answered(Question question, long sentAt, int rc) {
    if (rc != 0 || !question.isSame()) {
      question.then().accept(false);
      return;
    }
    long now = System.nanoTime();
    touches.answered(sentAt, now, question.connection());
    boolean waited = sentAt - question.answeredAt() >= touches.relay();
    if (waited || touches.reach(question.sentAt() + ttl, question.timeout())) {
      ask(question);
    } else {
      long left = touches.relay() - (now - question.answeredAt());
      timer.in(Math.max(0, left), () -> guard.run(() -> ask(question)));
    }
  }
}
