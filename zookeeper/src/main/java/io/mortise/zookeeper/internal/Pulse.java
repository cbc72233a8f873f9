package io.mortise.zookeeper.internal;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Finds out of a renewal whether it keeps the session alive, by the rule of {@link Touches}: by
 * what was sent before, or by a second request a tick later. Guarded by its session.
 */
public final class Pulse {
  private final Guard guard;
  private final Timer timer;
  private final Touches touches;
  private final long ttl;

  /**
   * Of a session that nothing was sent of yet.
   *
   * @param relay after how long what a follower has heard has reached the leader: a tick
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

  /** The ZooKeeper session began on that connection, after that moment. */
  public void born(long sentAt, long connection) {
    touches.add(sentAt, connection);
  }

  /**
   * What was sent then was answered by the leader.
   *
   * @param then told, under the guard, whether the session surely lives for a TTL from then
   */
  public void confirm(Handle handle, long sentAt, long connection, Consumer<Boolean> then) {
    long timeout = handle.client().getSessionTimeout() * 1_000_000L;
    boolean proven = touches.prove(sentAt, connection, timeout, sentAt + ttl);
    touches.add(sentAt, connection);
    if (proven) {
      then.accept(true);
    } else if (timeout < ttl) {
      then.accept(false);
    } else {
      long left = touches.relay() - (System.nanoTime() - sentAt);
      timer.in(Math.max(0, left), () -> guard.run(() -> again(handle, connection, then)));
    }
  }

  /** The second request, a tick later. */
  private void again(Handle handle, long connection, Consumer<Boolean> then) {
    if (!isSame(handle, connection)) {
      then.accept(false);
      return;
    }
    handle
        .client()
        .sync(
            "/",
            (rc, given, context) ->
                guard.run(() -> then.accept(rc == 0 && isSame(handle, connection))),
            null);
  }

  private static boolean isSame(Handle handle, long connection) {
    return handle.isUp() && handle.connection() == connection;
  }
}
