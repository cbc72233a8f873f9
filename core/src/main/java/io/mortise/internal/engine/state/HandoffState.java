package io.mortise.internal.engine.state;

/**
 * How a contended lock goes from thread to thread of this process: the limits within which
 * newcomers pass a woken head, and this process other processes. Guarded by the stripe; belongs to
 * a {@link Claim}.
 */
public final class HandoffState {
  private static final int BARGES = 8;
  private static final long BARGE_NANOS = 1_000_000;
  private static final int PASSES = 64;
  private static final long TURN_NANOS = 100_000;
  private static final long PASS_NANOS = 5_000_000;

  /** A fresh block of tokens is under way. */
  private boolean refreshing;

  /** The head was woken to take the free lock, and has not yet come. */
  private boolean offered;

  private int barges;
  private long bargeUntil;

  /** Counted from when it became known that another process waits. */
  private int passes;

  private long passUntil;

  HandoffState() {}

  boolean isRefreshing() {
    return refreshing;
  }

  public void refreshing(boolean now) {
    refreshing = now;
  }

  /** Whether the head was woken to take the free lock, and has not yet come. */
  public boolean isOffered() {
    return offered;
  }

  /** Begins the time in which a woken head may be passed, unless it runs already. */
  public void beginOffers(long now) {
    if (bargeUntil == 0) {
      bargeUntil = now + BARGE_NANOS;
    }
  }

  /** Whether newcomers may still pass the head. */
  public boolean allowsBarging(long now) {
    return barges < BARGES && bargeUntil - now > 0;
  }

  /** The head is to be woken. Returns false if it was. */
  public boolean offer() {
    boolean first = !offered;
    offered = true;
    return first;
  }

  /** The head has come, and may not take the lock. */
  public void declined() {
    offered = false;
  }

  /** A newcomer passes the woken head. */
  public void barged() {
    barges++;
  }

  /** The lock was taken, or the head has gone. */
  public void resetOffer() {
    offered = false;
    barges = 0;
    bargeUntil = 0;
  }

  /** It became known that another process waits. */
  void wanted(long now) {
    passes = 0;
    passUntil = now + PASS_NANOS;
  }

  /** When it became known that another process waits. */
  public long wantedSince() {
    return passUntil - PASS_NANOS;
  }

  /** A thread of this process has taken a lock that another process waits for. */
  public void passed() {
    passes++;
  }

  /** Whether this process has had its turn: so many passes, or so long. */
  public boolean isTurnOver(long now, long roundTripNanos) {
    return passes >= passes(roundTripNanos) || passUntil - now <= 0;
  }

  private static long passes(long roundTripNanos) {
    return Math.max(BARGES, Math.min(PASSES, BARGES * roundTripNanos / TURN_NANOS));
  }
}
