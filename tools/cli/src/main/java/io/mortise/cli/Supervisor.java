package io.mortise.cli;

import io.mortise.Lease;
import io.mortise.cli.child.ChildProcess;
import io.mortise.cli.child.RunEvent;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches a command and the lease that it runs under, until the command is over.
 *
 * <p>One thread takes events off one queue; nothing here is shared. While the lease is renewed in
 * time the command runs undisturbed. When validity will be over in less than the grace, the command
 * is told to end; what is left of it is killed before validity is over, as seen by the lease's own
 * clock. If validity is over at once (the lock was evicted, or this process was stopped for too
 * long), the command has the whole grace: what it may break has begun to break already, and half a
 * write is worse.
 */
final class Supervisor {
  /** A validity that ends so much later was renewed: more than two readings of a clock differ. */
  private static final Duration RENEWED = Duration.ofMillis(100);

  /** By how much an at-most time may end earlier than counted from the grant's arrival. */
  private static final Duration GRANT_LATENCY = Duration.ofSeconds(1);

  private final Lease lease;
  private final ChildProcess childProcess;
  private final BlockingQueue<RunEvent> runEvents;
  private final Duration grace;
  private final @Nullable Long atMostUntil;

  /**
   * For one command.
   *
   * @param atMostUntil when the at-most time is over at the latest, by {@link System#nanoTime()};
   *     null if there is none
   */
  Supervisor(
      Lease lease,
      ChildProcess childProcess,
      BlockingQueue<RunEvent> runEvents,
      Duration grace,
      @Nullable Long atMostUntil) {
    this.lease = lease;
    this.childProcess = childProcess;
    this.runEvents = runEvents;
    this.grace = grace;
    this.atMostUntil = atMostUntil;
  }

  /**
   * How it ended.
   *
   * @param status the command's
   * @param cause whether it was ended from here
   */
  record RunResult(int status, CommandEnd cause) {}

  /** Why a command is over. */
  enum CommandEnd {
    /** It ended by itself, or somebody else ended it. */
    ITSELF,
    /** It was ended, and gone before the lock could have been had by another. */
    ENDED_IN_TIME,
    /** As {@link #ENDED_IN_TIME}, because the at-most time was nearly over. */
    ENDED_AT_MOST,
    /** It was ended after the lock was lost. */
    ENDED_LATE
  }

  /** Blocks until the command is over, and with it all that had to be ended with it. */
  RunResult supervise() throws InterruptedException {
    boolean signalled = false;
    long told = System.nanoTime();
    while (true) {
      Duration valid = lease.isValid() ? lease.remaining() : Duration.ZERO;
      long until = System.nanoTime() + valid.toNanos();
      if (until - told > RENEWED.toNanos()) {
        childProcess.endUnlessToldWithin(valid);
        told = until;
      }
      long left = valid.minus(grace).toNanos();
      // Looks twice in that time, to tell the child of a renewal long before it would end itself.
      long look = left > RENEWED.toNanos() ? left / 2 : left;
      RunEvent runEvent =
          left <= 0 ? new RunEvent.LeaseLost() : runEvents.poll(look, TimeUnit.NANOSECONDS);
      if (runEvent instanceof RunEvent.ChildExited childExited) {
        if (signalled) {
          // Somebody wants it to end: what it started must not outlive the lock.
          childProcess.end(grace);
          awaitGone(grace);
        } else {
          childProcess.ended();
        }
        return new RunResult(childExited.status(), CommandEnd.ITSELF);
      }
      if (runEvent instanceof RunEvent.LeaseLost) {
        return end();
      }
      if (runEvent instanceof RunEvent.SignalReceived signal) {
        switch (signal.name()) {
          case "TSTP" -> childProcess.suspend();
          case "CONT" -> childProcess.signal("CONT");
          default -> {
            childProcess.signal(signal.name());
            signalled = true;
          }
        }
      }
    }
  }

  private RunResult end() throws InterruptedException {
    Duration left = lease.isValid() ? lease.remaining() : grace;
    CommandEnd inTime = isAtMost(left) ? CommandEnd.ENDED_AT_MOST : CommandEnd.ENDED_IN_TIME;
    // The last tenth of a second, or fifth of the grace, is for SIGKILL to take effect.
    Duration within = left.minus(min(grace.dividedBy(5), Duration.ofMillis(200)));
    childProcess.end(within);
    awaitGone(left);
    int status = ExitStatus.LOST;
    for (RunEvent runEvent = runEvents.poll(); runEvent != null; runEvent = runEvents.poll()) {
      if (runEvent instanceof RunEvent.ChildExited childExited) {
        status = childExited.status();
      }
    }
    return new RunResult(status, lease.isValid() ? inTime : CommandEnd.ENDED_LATE);
  }

  /** Whether it is the at-most time that ends a validity, and not a renewal that is overdue. */
  private boolean isAtMost(Duration left) {
    Long until = atMostUntil;
    return until != null && until - (System.nanoTime() + left.toNanos()) < GRANT_LATENCY.toNanos();
  }

  /** Waits until nothing is left. What is left after that time is killed, within a second. */
  private void awaitGone(Duration time) throws InterruptedException {
    long deadline = System.nanoTime() + time.toNanos();
    while (!childProcess.isGone()) {
      long late = System.nanoTime() - deadline;
      if (late > 0) {
        childProcess.force();
      }
      if (late > TimeUnit.SECONDS.toNanos(1)) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  static Duration min(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }
}
