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
 * is asked to end; remaining processes are killed before validity is over, by the lease's own
 * clock. If validity ends at once (the lock was evicted, or this process was paused for too long),
 * the command has the whole grace: damage has begun already, and half a write is worse.
 */
final class Supervisor {
  /**
   * A validity extended by this much was renewed: more than the difference of two clock readings.
   */
  private static final Duration RENEWED = Duration.ofMillis(100);

  /** By how much an at-most time may end before the one counted from the grant's arrival. */
  private static final Duration GRANT_LATENCY = Duration.ofSeconds(1);

  private final Lease lease;
  private final ChildProcess childProcess;
  private final BlockingQueue<RunEvent> runEvents;
  private final Duration grace;
  private final @Nullable Long atMostUntil;

  /**
   * Supervises one command.
   *
   * @param atMostUntil the latest end of the at-most time, by {@link System#nanoTime()}; null if
   *     there is none
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
   * The end of a command.
   *
   * @param status the command's
   * @param cause the cause of its end
   */
  record RunResult(int status, CommandEnd cause) {}

  /** Why a command is over. */
  enum CommandEnd {
    /** It ended by itself, or another process ended it. */
    ITSELF,
    /** It was ended, and gone before another process could hold the lock. */
    ENDED_IN_TIME,
    /** Like {@link #ENDED_IN_TIME}, because the at-most time was nearly over. */
    ENDED_AT_MOST,
    /** It was ended after the lock was lost. */
    ENDED_LATE
  }

  /** Blocks until the command is over, with all processes that had to end with it. */
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
      // Checks twice in that time, to tell the child of a renewal long before it would end itself.
      long look = left > RENEWED.toNanos() ? left / 2 : left;
      RunEvent runEvent =
          left <= 0 ? new RunEvent.LeaseLost() : runEvents.poll(look, TimeUnit.NANOSECONDS);
      if (runEvent instanceof RunEvent.ChildExited childExited) {
        if (signalled) {
          // The command is being ended: processes that it started must not outlive the lock.
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

  /** Whether a validity is limited by the at-most time rather than by an overdue renewal. */
  private boolean isAtMost(Duration left) {
    Long until = atMostUntil;
    return until != null && until - (System.nanoTime() + left.toNanos()) < GRANT_LATENCY.toNanos();
  }

  /** Waits until no process is left, and kills those left after that time, within a second. */
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
