package io.mortise.curator;

import java.util.random.RandomGenerator;

/** One process of a mixed fleet, which holds, waits, or is idle. For one thread. */
abstract class FleetClient {
  static final String LOCK = "scheduled";
  static final int PERMITS = 3;

  private final String name;
  private LockShare lockShare = new LockShare(false, 1);

  FleetClient(String name) {
    this.name = name;
  }

  /** The locked object. */
  enum LockedObject {
    MUTEX,
    READ_WRITE,
    SEMAPHORE
  }

  /** The share of a lock: as a reader or not, and its permits. */
  record LockShare(boolean reads, int permits) {}

  final LockShare draw(LockedObject lockedObject, RandomGenerator random) {
    return new LockShare(
        lockedObject == LockedObject.READ_WRITE && random.nextBoolean(),
        lockedObject == LockedObject.SEMAPHORE ? 1 + random.nextInt(mostPermits()) : 1);
  }

  final LockShare part() {
    return lockShare;
  }

  final void takes(LockShare taken) {
    lockShare = taken;
  }

  final void enters(LockShare taken) {
    takes(taken);
    begin();
  }

  /** The most permits that it takes. */
  abstract int mostPermits();

  /** Begins to wait. */
  abstract void begin();

  /** Whether it is granted without waiting. */
  abstract boolean tries(LockShare taken) throws Exception;

  abstract boolean holds();

  /** Ends its hold. */
  abstract void leave() throws Exception;

  /** Ends its wait, if it can. */
  abstract boolean givesUp();

  /** Its session ends while it holds. */
  abstract void expires() throws Exception;

  @Override
  public final String toString() {
    return name;
  }
}
