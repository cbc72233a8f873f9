package io.mortise.internal.event;

import io.mortise.admin.LockParticipant.Access;
import io.mortise.event.LockListener;
import io.mortise.event.LockListener.AcquireCall;
import io.mortise.event.LockListener.AcquireEnded;
import io.mortise.event.LockListener.AcquireQueued;
import io.mortise.event.LockListener.AcquireStarted;
import io.mortise.event.LockListener.LeaseEnded;
import io.mortise.event.LockListener.LockSession;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.event.LockListener.SessionChanged;
import io.mortise.event.LockListener.SessionRenewed;
import io.mortise.event.LockListener.SessionState;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Passes the events of a client's engines to its listeners and to the flight recorder. Without
 * listeners and a recording, an acquire costs one check, and nothing else. Thread-safe.
 */
public final class EventPublisher {
  /** Numbers acquires of all clients, because one listener may serve several. */
  private static final AtomicLong CALLS = new AtomicLong();

  /** The most events about queues and renewals that wait for a blocked listener. */
  private static final int BACKLOG = 1_024;

  private final @Nullable FlightRecording recording;
  private final ListenerGroup acquireStarted;
  private final ListenerGroup acquireQueued;
  private final ListenerGroup acquireEnded;
  private final ListenerGroup leaseEnded;
  private final ListenerGroup sessionRenewed;
  private final ListenerGroup sessionChanged;

  /** Whether a listener receives events of acquires and leases. */
  private final boolean hearsAcquires;

  private EventPublisher(
      List<LockListener> listeners, @Nullable FlightRecording recording, Executor callbacks) {
    EventQueue queue = new EventQueue(callbacks, BACKLOG);
    AtomicBoolean hasFailed = new AtomicBoolean();
    BiFunction<String, Class<?>, ListenerGroup> group =
        (method, event) -> new ListenerGroup(listeners, method, event, queue, hasFailed);
    this.recording = recording;
    this.acquireStarted = group.apply("onAcquireStarted", AcquireStarted.class);
    this.acquireQueued = group.apply("onAcquireQueued", AcquireQueued.class);
    this.acquireEnded = group.apply("onAcquireEnded", AcquireEnded.class);
    this.leaseEnded = group.apply("onLeaseEnded", LeaseEnded.class);
    this.sessionRenewed = group.apply("onSessionRenewed", SessionRenewed.class);
    this.sessionChanged = group.apply("onSessionChanged", SessionChanged.class);
    this.hearsAcquires =
        Stream.of(acquireStarted, acquireQueued, acquireEnded, leaseEnded)
            .anyMatch(hearing -> !hearing.isEmpty());
  }

  /**
   * Publishes to these listeners, and to the flight recorder if the JVM has one.
   *
   * @param callbacks runs the calls that are not made on the caller's thread
   */
  public static EventPublisher to(List<LockListener> listeners, Executor callbacks) {
    // The classes of the recorder must not be touched if their module is missing.
    boolean hasRecorder = ModuleLayer.boot().findModule("jdk.jfr").isPresent();
    return new EventPublisher(listeners, hasRecorder ? new JfrRecording() : null, callbacks);
  }

  /** Whether any listener or recording receives acquires. */
  public boolean isActive() {
    return hearsAcquires || isRecording();
  }

  boolean isRecording() {
    return recording != null && recording.isEnabled();
  }

  FlightRecording recording() {
    return Objects.requireNonNull(recording);
  }

  /** Reports the begin of an acquire, on this thread. Called only if this is active. */
  public AcquireTrace begin(
      String lock, Access access, String label, String store, LongSupplier clock) {
    AcquireCall call = new AcquireCall(CALLS.incrementAndGet(), lock, access, label, store);
    Object recorded = isRecording() ? recording().beginAcquire() : null;
    AcquireTrace trace = new AcquireTrace(this, call, clock.getAsLong(), recorded);
    if (!acquireStarted.isEmpty()) {
      AcquireStarted event = new AcquireStarted(call);
      acquireStarted.call(listener -> listener.onAcquireStarted(event));
    }
    return trace;
  }

  /**
   * Reports a renewal, later and on another thread.
   *
   * @param remaining nanoseconds, read when it is reported
   */
  public void renewed(
      LockSession session,
      RenewalOutcome outcome,
      Duration took,
      Duration ttl,
      LongSupplier remaining,
      String reason) {
    if (recording != null) {
      recording.renewed(new SessionRenewed(session, outcome, took, ttl, left(remaining), reason));
    }
    sessionRenewed.offer(
        listener ->
            listener.onSessionRenewed(
                new SessionRenewed(session, outcome, took, ttl, left(remaining), reason)));
  }

  /**
   * Reports a change of a session, later and on another thread.
   *
   * @param remaining nanoseconds, read when it is reported
   */
  public void changed(
      LockSession session, SessionState state, int leases, LongSupplier remaining, String reason) {
    if (recording != null) {
      recording.changed(new SessionChanged(session, state, leases, left(remaining), reason));
    }
    sessionChanged.add(
        listener ->
            listener.onSessionChanged(
                new SessionChanged(session, state, leases, left(remaining), reason)));
  }

  private static Duration left(LongSupplier remaining) {
    return Duration.ofNanos(Math.max(0, remaining.getAsLong()));
  }

  ListenerGroup acquireQueued() {
    return acquireQueued;
  }

  ListenerGroup acquireEnded() {
    return acquireEnded;
  }

  ListenerGroup leaseEnded() {
    return leaseEnded;
  }
}
