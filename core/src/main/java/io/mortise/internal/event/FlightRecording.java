package io.mortise.internal.event;

import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.LeaseEnded;
import io.mortise.event.LockListener.SessionChanged;
import io.mortise.event.LockListener.SessionRenewed;

/**
 * Writes events to a recording of the Java Flight Recorder. An interface, so that no class of
 * module {@code jdk.jfr} is touched if the module is missing.
 */
interface FlightRecording {
  /** Whether a running recording includes events of acquires or holds. Costs a nanosecond. */
  boolean isEnabled();

  /** Records the begin of an acquire. */
  Object beginAcquire();

  /**
   * Writes an acquire.
   *
   * @param begun the result of {@link #beginAcquire()}
   */
  void endAcquire(Object begun, AcquireEnded event);

  /** Records the begin of a lease. */
  Object beginHold();

  /**
   * Writes a hold, and if the lease was lost, its loss.
   *
   * @param begun the result of {@link #beginHold()}
   */
  void endHold(Object begun, LeaseEnded event);

  /** Writes a renewal that failed or was slow. */
  void renewed(SessionRenewed event);

  void changed(SessionChanged event);
}
