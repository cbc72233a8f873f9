package io.mortise.zookeeper.curator;

import java.util.random.RandomGenerator;

/** One process of a mixed fleet, which holds, or waits, or does neither. For one thread. */
abstract class Actor {
  static final String LOCK = "scheduled";
  static final int PERMITS = 3;

  private final String name;
  private Part part = new Part(false, 1);

  Actor(String name) {
    this.name = name;
  }

  /** What is locked. */
  enum Kind {
    MUTEX,
    READ_WRITE,
    SEMAPHORE
  }

  /** As what it locks. */
  record Part(boolean reads, int permits) {}

  final Part draw(Kind kind, RandomGenerator random) {
    return new Part(
        kind == Kind.READ_WRITE && random.nextBoolean(),
        kind == Kind.SEMAPHORE ? 1 + random.nextInt(mostPermits()) : 1);
  }

  final Part part() {
    return part;
  }

  final void takes(Part taken) {
    part = taken;
  }

  final void enters(Part taken) {
    takes(taken);
    begin();
  }

  /** How many permits it takes at most. */
  abstract int mostPermits();

  /** Begins to wait. */
  abstract void begin();

  /** Whether it is granted without waiting. */
  abstract boolean tries(Part taken) throws Exception;

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
