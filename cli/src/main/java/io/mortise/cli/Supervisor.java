package io.mortise.cli;

import io.mortise.Lease;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

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

  private final Lease lease;
  private final Child child;
  private final BlockingQueue<Event> events;
  private final Duration grace;

  Supervisor(Lease lease, Child child, BlockingQueue<Event> events, Duration grace) {
    this.lease = lease;
    this.child = child;
    this.events = events;
    this.grace = grace;
  }

  /**
   * How it ended.
   *
   * @param status the command's
   * @param cause whether it was ended from here
   */
  record End(int status, Cause cause) {}

  /** Why a command is over. */
  enum Cause {
    /** It ended by itself, or somebody else ended it. */
    ITSELF,
    /** It was ended, and gone before the lock could have been had by another. */
    ENDED_IN_TIME,
    /** It was ended after the lock was lost. */
    ENDED_LATE
  }

  /** Blocks until the command is over, and with it all that had to be ended with it. */
  End supervise() throws InterruptedException {
    boolean signalled = false;
    long told = System.nanoTime();
    while (true) {
      Duration valid = lease.isValid() ? lease.remaining() : Duration.ZERO;
      long until = System.nanoTime() + valid.toNanos();
      if (until - told > RENEWED.toNanos()) {
        child.endUnlessToldWithin(valid);
        told = until;
      }
      long left = valid.minus(grace).toNanos();
      // Looks twice in that time, to tell the child of a renewal long before it would end itself.
      long look = left > RENEWED.toNanos() ? left / 2 : left;
      Event event = left <= 0 ? new Event.Lost() : events.poll(look, TimeUnit.NANOSECONDS);
      if (event instanceof Event.Exited exited) {
        if (signalled) {
          // Somebody wants it to end: what it started must not outlive the lock.
          child.end(grace);
          awaitGone(grace);
        } else {
          child.ended();
        }
        return new End(exited.status(), Cause.ITSELF);
      }
      if (event instanceof Event.Lost) {
        return end();
      }
      if (event instanceof Event.Signalled signal) {
        switch (signal.name()) {
          case "TSTP" -> child.suspend();
          case "CONT" -> child.signal("CONT");
          default -> {
            child.signal(signal.name());
            signalled = true;
          }
        }
      }
    }
  }

  private End end() throws InterruptedException {
    Duration left = lease.isValid() ? lease.remaining() : grace;
    // The last tenth of a second, or fifth of the grace, is for SIGKILL to take effect.
    Duration within = left.minus(min(grace.dividedBy(5), Duration.ofMillis(200)));
    child.end(within);
    awaitGone(left);
    int status = ExitStatus.LOST;
    for (Event event = events.poll(); event != null; event = events.poll()) {
      if (event instanceof Event.Exited exited) {
        status = exited.status();
      }
    }
    return new End(status, lease.isValid() ? Cause.ENDED_IN_TIME : Cause.ENDED_LATE);
  }

  /** Whoever is left when the time is over, and a second on a slow machine, is killed from here. */
  private void awaitGone(Duration time) throws InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    while (!child.isGone()) {
      long late = System.nanoTime() - end;
      if (late > 0) {
        child.force();
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
