package io.mortise.zookeeper.internal;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Finds out of a renewal whether it keeps the session alive, by the rule of {@link Touches}: by two
 * requests more, a tick later, which go through the leader and write nothing. Where a tick takes a
 * large part of the TTL the renewal before helps, on the same connection: then it is one more, at
 * once, and the session has to live for longer. Never more than three. Guarded by its session.
 */
public final class Pulse {
  /** How many ticks a TTL needs to have renewals prove themselves: a lost one costs no lease. */
  private static final int PROMPT_TICKS = 6;

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

  /**
   * What the server is asked to grant: the TTL; or more than it by what lies between two renewals,
   * if only the next will prove what this one was worth.
   */
  public int wantedMillis() {
    boolean isPrompt = PROMPT_TICKS * touches.relay() <= ttl;
    long slack = isPrompt ? 0 : Math.max(ttl / 2, ttl / 3 + 2 * touches.relay());
    return (int) Math.min(Integer.MAX_VALUE, (ttl + slack + 999_999) / 1_000_000);
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
    Question question = new Question(handle, sentAt + ttl, now, connection, then);
    decide(
        question,
        () -> {
          if (touches.isNear(question.until(), question.timeout())) {
            read(question, () -> decide(question, () -> later(question)));
          } else {
            later(question);
          }
        });
  }

  /** What is to be known: whether the session lives until then, a TTL from the renewal. */
  private record Question(
      Handle handle, long until, long answeredAt, long connection, Consumer<Boolean> then) {
    boolean isSame() {
      return handle.isUp() && handle.connection() == connection;
    }

    long timeout() {
      return handle.client().getSessionTimeout() * 1_000_000L;
    }
  }

  private void decide(Question question, Runnable otherwise) {
    if (touches.reach(question.until(), question.timeout())) {
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
