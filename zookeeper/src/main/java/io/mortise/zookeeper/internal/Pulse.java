package io.mortise.zookeeper.internal;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Finds out of a renewal whether it keeps the session alive, by the rule of {@link Touches}: with
 * the renewal before by one request more, which goes through the leader and writes nothing; on a
 * new connection by two more, a tick later; never by more than three. Guarded by its session.
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
    touches.heard(sentAt);
  }

  /**
   * What was sent then was answered by the leader, just now.
   *
   * @param then told, under the guard, whether the session surely lives for a TTL from then
   */
  public void confirm(Handle handle, long sentAt, long connection, Consumer<Boolean> then) {
    long now = System.nanoTime();
    touches.answered(sentAt, now, connection);
    Question question = new Question(handle, sentAt, now, connection, then);
    decide(
        question,
        () -> {
          if (touches.isNear()) {
            read(question, () -> decide(question, () -> later(question)));
          } else {
            later(question);
          }
        });
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

  private void decide(Question question, Runnable otherwise) {
    if (touches.reach(question.sentAt() + ttl, question.timeout())) {
      question.then().accept(true);
    } else if (question.timeout() < ttl) {
      question.then().accept(false);
    } else {
      otherwise.run();
    }
  }

  /** The second request of the three, a tick after the answer to the first, and the third. */
  private void later(Question question) {
    long left = touches.relay() - (System.nanoTime() - question.answeredAt());
    timer.in(
        Math.max(0, left),
        () ->
            guard.run(
                () ->
                    read(
                        question,
                        () -> decide(question, () -> read(question, () -> conclude(question))))));
  }

  private void conclude(Question question) {
    decide(question, () -> question.then().accept(false));
  }

  private void read(Question question, Runnable then) {
    if (!question.isSame()) {
      question.then().accept(false);
      return;
    }
    long sentAt = System.nanoTime();
    question
        .handle()
        .client()
        .sync(
            "/",
            (rc, given, context) ->
                guard.run(
                    () -> {
                      if (rc == 0 && question.isSame()) {
                        touches.answered(sentAt, System.nanoTime(), question.connection());
                        then.run();
                      } else {
                        question.then().accept(false);
                      }
                    }),
            null);
  }
}
