package io.mortise.internal.engine;

import io.mortise.LeaseLostException;
import io.mortise.event.LockListener.LeaseEnd;
import io.mortise.internal.event.AcquireTrace;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.session.Validity;
import io.mortise.spi.Reply.EndReason;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A lease whose end is told to listeners. Apart from {@link LeaseImpl}, so that a lease that nobody
 * listens for takes no more memory.
 */
final class TracedLease extends LeaseImpl {
  private final LeaseTrace trace;

  TracedLease(Claim claim, Validity validity, long token, Waiter waiter, AcquireTrace acquire) {
    super(claim, validity, token, waiter);
    this.trace = acquire.lease();
  }

  @Override
  LeaseTrace trace() {
    return trace;
  }

  @Override
  void released() {
    super.released();
    trace.released(engine().env.now());
  }

  @Override
  public void close() {
    try {
      super.close();
    } finally {
      tellRelease();
    }
  }

  @Override
  void tellRelease() {
    if (trace.takeRelease()) {
      trace.tellRelease();
    }
  }

  @Override
  public CompletableFuture<Void> releaseAsync() {
    CompletableFuture<Void> done = super.releaseAsync();
    return trace.takeRelease() ? done.whenComplete((ignored, loss) -> trace.tellRelease()) : done;
  }

  @Override
  void checkEnd(PendingRelease pendingRelease) {
    try {
      super.checkEnd(pendingRelease);
    } catch (LeaseLostException e) {
      trace.endedBefore(
          pendingRelease.forgotten ? LeaseEnd.FORGOTTEN : end(pendingRelease.how()),
          String.valueOf(e.getMessage()));
      throw e;
    }
  }

  private static LeaseEnd end(@Nullable EndReason how) {
    if (how == EndReason.EXPIRED) {
      return LeaseEnd.AT_MOST;
    }
    return how == EndReason.EVICTED ? LeaseEnd.EVICTED : LeaseEnd.NOT_RENEWED;
  }
}
