package io.mortise.internal.engine.state;

/**
 * The state of local hand-offs of a contended lock: the limits within which newcomers pass a woken
 * head, and this process passes other processes. Guarded by the stripe; belongs to a {@link Claim}.
 */
public final class HandoffState {
  private static final int BARGES = 8;
  private static final long BARGE_NANOS = 1_000_000;
  private static final int PASSES = 64;
  private static final long TURN_NANOS = 100_000;
  private static final long PASS_NANOS = 5_000_000;

  /** A request for a fresh block of tokens is in flight. */
  private boolean refreshing;

  /** The head was woken to take the free lock, and has not run yet. */
  private boolean offered;

  private int barges;
  private long bargeUntil;

  /** Counted since another process is known to wait. */
  private int passes;

  private long passUntil;

  HandoffState() {}

  boolean isRefreshing() {
    return refreshing;
  }

  public void refreshing(boolean now) {
    refreshing = now;
  }

  /** Whether the head was woken to take the free lock, and has not run yet. */
  public boolean isOffered() {
    return offered;
  }

  /** Starts the time in which newcomers may pass a woken head, unless it runs already. */
  public void beginOffers(long now) {
    if (bargeUntil == 0) {
      bargeUntil = now + BARGE_NANOS;
    }
  }

  /** Whether newcomers may still pass the head. */
  public boolean allowsBarging(long now) {
    return barges < BARGES && bargeUntil - now > 0;
  }

  /** Offers the lock to the head. Returns false if the head was woken already. */
  public boolean offer() {
    boolean first = !offered;
    offered = true;
    return first;
  }

  /** Records that the head came, and may not take the lock. */
  public void declined() {
    offered = false;
  }

  /** Records that a newcomer passed the woken head. */
  public void barged() {
    barges++;
  }

  /** Records that the lock was taken, or the head has gone. */
  public void resetOffer() {
    offered = false;
    barges = 0;
    bargeUntil = 0;
  }

  /** Records that another process waits. */
  void wanted(long now) {
    passes = 0;
    passUntil = now + PASS_NANOS;
  }

  /** The time since which another process is known to wait. */
  public long wantedSince() {
    return passUntil - PASS_NANOS;
  }

  /** Records that a thread of this process took a lock that another process waits for. */
  public void passed() {
    passes++;
  }

  /** Whether this process has had its turn, by the number of passes or by time. */
  public boolean isTurnOver(long now, long roundTripNanos) {
    return passes >= passes(roundTripNanos) || passUntil - now <= 0;
  }

  private static long passes(long roundTripNanos) {
    return Math.max(BARGES, Math.min(PASSES, BARGES * roundTripNanos / TURN_NANOS));
  }
}
