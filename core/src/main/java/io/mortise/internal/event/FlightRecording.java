package io.mortise.internal.event;

import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.LeaseEnded;
import io.mortise.event.LockListener.SessionChanged;
import io.mortise.event.LockListener.SessionRenewed;

/**
 * Writes events to a recording of the Java Flight Recorder. An interface, so that nothing of module
 * {@code jdk.jfr} is touched where that is missing.
 */
interface FlightRecording {
  /** Whether a recording is running that wants events of acquires or holds. Costs a nanosecond. */
  boolean isEnabled();

  /** Takes the time when an acquire begins. */
  Object beginAcquire();

  /**
   * Writes an acquire.
   *
   * @param begun what {@link #beginAcquire()} gave
   */
  void endAcquire(Object begun, AcquireEnded event);

  /** Takes the time when a lease begins. */
  Object beginHold();

  /**
   * Writes a hold, and if the lease was lost, its loss.
   *
   * @param begun what {@link #beginHold()} gave
   */
  void endHold(Object begun, LeaseEnded event);

  /** Writes a renewal that failed or was slow. */
  void renewed(SessionRenewed event);

  /** Writes a change of a session. */
  void changed(SessionChanged event);
}
