package io.mortise.jdbc.batch;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * The pauses between tries at a file that other processes write. Short at first, since most
 * transactions take well below a millisecond; longer the longer it takes, so that many processes
 * leave the processor to the one that has the file. Random, so that they do not meet again.
 */
public final class BackOff {
  private static final int SPINS = 3;

  /** So many tries are made with pauses below a millisecond, some 5 ms in all. */
  private static final int SHORT_TRIES = 16;

  private static final long LEAST = 20_000;

  /** Long enough for fifty processes, each of which needs the file for 2 ms. */
  private static final long MOST = Duration.ofMillis(100).toNanos();

  private BackOff() {}

  /**
   * Waits.
   *
   * @param tries how many were in vain before the last one
   */
  public static void pause(int tries) {
    if (tries < SPINS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(
          ThreadLocalRandom.current().nextLong(LEAST, LEAST + longest(tries) + 1));
    }
  }

  /** The longest pause after so many tries, in nanoseconds. */
  static long longest(int tries) {
    return tries < SHORT_TRIES
        ? 50_000L << Math.min(tries, 6) >> 2
        : Math.min(MOST, 2_000_000L << Math.min((tries - SHORT_TRIES) / 2, 6));
  }
}
