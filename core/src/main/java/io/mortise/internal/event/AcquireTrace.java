package io.mortise.internal.event;

import io.mortise.event.LockListener.AcquireCall;
import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.event.LockListener.AcquireQueued;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Notifies listeners of one acquire. Not created without listeners. */
public final class AcquireTrace {
  final EventPublisher publisher;
  final AcquireCall call;
  private final long startedAt;
  private final @Nullable Object recorded;
  private volatile boolean ended;

  /** Null until it is known. Guarded by the stripe of the lock's name. */
  private @Nullable Integer place;

  AcquireTrace(
      EventPublisher publisher, AcquireCall call, long startedAt, @Nullable Object recorded) {
    this.publisher = publisher;
    this.call = call;
    this.startedAt = startedAt;
    this.recorded = recorded;
  }

  /** Whether this place in the store's queue differs from the previous one. */
  public boolean isNewPlace(int ahead) {
    boolean isNew = place == null || place != ahead;
    place = ahead;
    return isNew;
  }

  /** Reports the place in the store's queue, later and on another thread. */
  public void queued(int ahead) {
    publisher
        .acquireQueued()
        .offer(
            listener -> {
              if (!ended) {
                listener.onAcquireQueued(new AcquireQueued(call, ahead));
              }
            });
  }

  /** Reports the end of the acquire, on this thread. Called once. */
  public void ended(AcquireOutcome outcome, OptionalLong token, String reason, long now) {
    ended = true;
    if (recorded == null && publisher.acquireEnded().isEmpty()) {
      return;
    }
    AcquireEnded event =
        new AcquireEnded(call, outcome, Duration.ofNanos(now - startedAt), token, reason);
    if (recorded != null) {
      publisher.recording().endAcquire(recorded, event);
    }
    publisher.acquireEnded().call(listener -> listener.onAcquireEnded(event));
  }

  /** The trace of the lease that this acquire may get. */
  public LeaseTrace lease() {
    return new LeaseTrace(this);
  }
}
