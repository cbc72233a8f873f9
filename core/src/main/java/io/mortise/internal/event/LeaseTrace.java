package io.mortise.internal.event;

import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.event.LockListener.LeaseEnded;
import io.mortise.spi.time.DurationText;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Reports the end of one lease to listeners, once, and never before its acquire. A lease may be
 * lost while its acquire is being reported; then the acquiring thread reports both.
 */
public final class LeaseTrace {
  private static final int NEW = 0;
  private static final int ANNOUNCED = 1;
  private static final int LOST_BEFORE = 2;

  private final AcquireTrace acquire;
  private final AtomicInteger state = new AtomicInteger(NEW);
  private OptionalLong token = OptionalLong.empty();
  private long heldSince;
  private @Nullable Object recorded;

  // Written under the stripe's lock when the lease ends, or later by its closing thread.
  private long endedAt;
  private LeaseEnd end = LeaseEnd.RELEASED;
  private String reason = "";
  private @Nullable Thread releaser;

  LeaseTrace(AcquireTrace acquire) {
    this.acquire = acquire;
  }

  /** Reports on this thread that the acquire was granted; its caller gets the lease next. */
  public void granted(OptionalLong token, long now) {
    this.token = token;
    this.heldSince = now;
    EventPublisher publisher = acquire.publisher;
    if (publisher.isRecording()) {
      recorded = publisher.recording().beginHold();
    }
    acquire.ended(AcquireOutcome.GRANTED, token, "", now);
    if (!state.compareAndSet(NEW, ANNOUNCED)) {
      tellRelease();
    }
  }

  /** Called under the stripe's lock: this thread releases the lease, and will report that. */
  public void released(long now) {
    endedAt = now;
    releaser = Thread.currentThread();
  }

  /** Called under the stripe's lock: the lease was released, and its grant is kept for a time. */
  public void staysIdle(Duration kept) {
    reason = "idle, kept for " + DurationText.format(kept);
  }

  /** Whether this thread has released the lease and must report that now; true once. */
  public boolean takeRelease() {
    boolean mine = releaser == Thread.currentThread();
    if (mine) {
      releaser = null;
    }
    return mine;
  }

  /** Records that the store's answer to a release shows an earlier end of the lease. */
  public void endedBefore(LeaseEnd what, String why) {
    end = what;
    reason = why;
  }

  /** Reports the end of the lease on this thread. */
  public void tellRelease() {
    if (recorded != null || !acquire.publisher.leaseEnded().isEmpty()) {
      acquire.publisher.leaseEnded().call(event());
    }
  }

  /** Called under the stripe's lock: the lease is lost. */
  public void lost(LeaseEnd what, String why, long now) {
    endedAt = now;
    end = what;
    reason = why;
  }

  /** Reports the loss, later and on another thread; called with no lock held. */
  public void tellLoss() {
    if (!state.compareAndSet(NEW, LOST_BEFORE)) {
      acquire.publisher.leaseEnded().add(event());
    }
  }

  private ListenerGroup.ListenerCall event() {
    LeaseEnded event =
        new LeaseEnded(
            acquire.call, end, Duration.ofNanos(Math.max(0, endedAt - heldSince)), token, reason);
    Object begun = recorded;
    if (begun != null) {
      acquire.publisher.recording().endHold(begun, event);
    }
    return listener -> listener.onLeaseEnded(event);
  }
}
