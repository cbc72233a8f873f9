package io.mortise.internal.event;

import io.mortise.admin.LockParticipant.Access;
import io.mortise.event.LockListener;
import io.mortise.event.LockListener.AcquireCall;
import io.mortise.event.LockListener.AcquireStarted;
import io.mortise.event.LockListener.LockSession;
import io.mortise.event.LockListener.RenewalResult;
import io.mortise.event.LockListener.SessionChanged;
import io.mortise.event.LockListener.SessionRenewed;
import io.mortise.event.LockListener.SessionState;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the listeners of one client, and the flight recorder, what its engine reports. Where nobody
 * listens and nothing is recorded, an acquire asks once whether that is so, and nothing more is
 * done. Thread-safe.
 */
public final class EventPublisher {
  private static final Logger log = LoggerFactory.getLogger(EventPublisher.class);

  /** Numbers acquires of all clients, since one listener may listen to several. */
  private static final AtomicLong CALLS = new AtomicLong();

  /** So many events about queues and renewals may wait for a listener that blocks. */
  private static final int BACKLOG = 1_024;

  private final LockListener[] listeners;
  private final @Nullable FlightRecording recording;
  private final EventQueue queue;
  private final AtomicBoolean hasFailed = new AtomicBoolean();

  /** One call of a listener. */
  @FunctionalInterface
  interface Telling {
    void to(LockListener listener);
  }

  private EventPublisher(
      List<LockListener> listeners, @Nullable FlightRecording recording, Executor callbacks) {
    this.listeners = listeners.toArray(LockListener[]::new);
    this.recording = recording;
    this.queue = new EventQueue(callbacks, BACKLOG);
  }

  /**
   * Tells these, and the flight recorder where the JVM has one.
   *
   * @param callbacks runs what is not told on the caller's thread
   */
  public static EventPublisher to(List<LockListener> listeners, Executor callbacks) {
    // The classes behind it must not be touched where their module is missing.
    boolean hasRecorder = ModuleLayer.boot().findModule("jdk.jfr").isPresent();
    return new EventPublisher(listeners, hasRecorder ? new JfrRecording() : null, callbacks);
  }

  /** Whether there is anybody to tell of an acquire. */
  public boolean isActive() {
    return listeners.length > 0 || isRecording();
  }

  boolean isRecording() {
    return recording != null && recording.isEnabled();
  }

  FlightRecording recording() {
    return Objects.requireNonNull(recording);
  }

  /** Tells that an acquire begins, on this thread. To be asked only if this is active. */
  public AcquireTrace begin(
      String lock, Access access, String label, String store, LongSupplier clock) {
    AcquireCall call = new AcquireCall(CALLS.incrementAndGet(), lock, access, label, store);
    Object recorded = isRecording() ? recording().beginAcquire() : null;
    AcquireTrace trace = new AcquireTrace(this, call, clock.getAsLong(), recorded);
    if (listeners.length > 0) {
      AcquireStarted event = new AcquireStarted(call);
      tell(listener -> listener.onAcquireStarted(event));
    }
    return trace;
  }

  /**
   * Tells of a renewal, later and on another thread.
   *
   * @param remaining nanoseconds, asked for when it is told
   */
  public void renewed(
      LockSession session,
      RenewalResult outcome,
      Duration took,
      Duration ttl,
      LongSupplier remaining,
      String reason) {
    if (recording != null) {
      recording.renewed(new SessionRenewed(session, outcome, took, ttl, left(remaining), reason));
    }
    offer(
        listener ->
            listener.onSessionRenewed(
                new SessionRenewed(session, outcome, took, ttl, left(remaining), reason)));
  }

  /**
   * Tells of a change, later and on another thread.
   *
   * @param remaining nanoseconds, asked for when it is told
   */
  public void changed(
      LockSession session, SessionState state, int leases, LongSupplier remaining, String reason) {
    if (recording != null) {
      recording.changed(new SessionChanged(session, state, leases, left(remaining), reason));
    }
    add(
        listener ->
            listener.onSessionChanged(
                new SessionChanged(session, state, leases, left(remaining), reason)));
  }

  private static Duration left(LongSupplier remaining) {
    return Duration.ofNanos(Math.max(0, remaining.getAsLong()));
  }

  /** Later, in order, unless too much waits. */
  void offer(Telling telling) {
    if (listeners.length > 0) {
      queue.offer(() -> tell(telling));
    }
  }

  /** Later, in order. */
  void add(Telling telling) {
    if (listeners.length > 0) {
      queue.add(() -> tell(telling));
    }
  }

  /** Now, on this thread. */
  void tell(Telling telling) {
    for (LockListener listener : listeners) {
      try {
        telling.to(listener);
      } catch (RuntimeException | Error e) {
        // Whatever it is: a granted lock must reach its caller all the same.
        failed(listener, e);
      }
    }
  }

  private void failed(LockListener listener, Throwable failure) {
    if (hasFailed.compareAndSet(false, true)) {
      log.warn(
          "Listener {} of a lock client failed; further failures are logged at DEBUG.",
          listener.getClass().getName(),
          failure);
    } else {
      log.debug("Listener {} of a lock client failed.", listener.getClass().getName(), failure);
    }
  }
}
