package io.mortise.internal.engine;

import io.mortise.LeaseLostException;
import io.mortise.internal.event.AcquireTrace;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.session.Validity;
import java.util.concurrent.CompletableFuture;

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
  public void close() {
    try {
      super.close();
    } finally {
      tellRelease();
    }
  }

  @Override
  public Runnable startClose() {
    Runnable close = super.startClose();
    return () -> {
      try {
        close.run();
      } finally {
        tellRelease();
      }
    };
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
      trace.endedBefore(e.end(), String.valueOf(e.getMessage()));
      throw e;
    }
  }
}
