package io.mortise.internal.engine;

import io.mortise.spi.AttemptId;
import io.mortise.spi.DurationText;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One session of this process, from its opening to its end. Guarded by its {@link SessionRenewer}
 * but for the validity.
 */
final class LiveSession implements Validity {
  final StoreSession store;
  private final Engine engine;
  private final AtomicLong attempts = new AtomicLong();

  /** The only thing about a session that hot paths read. */
  private volatile long validUntil = Long.MIN_VALUE;

  volatile LiveSessionPhase phase = LiveSessionPhase.OPENING;

  /** What the store remembers with, and when the renewal was sent that told so. */
  volatile String incarnation = "";

  long memoryAt;

  /** How often the server was found to be another incarnation, and when it was last. */
  private volatile int incarnationChanges;

  private volatile long doubtedAt;

  /** Until a whole TTL is confirmed again, no grant is believed in. */
  volatile boolean hasShortTtl;

  /** Whether it will be looked whether the process waits and holds nothing. */
  volatile boolean shortening;

  /** When an attempt was last told to wait, and when the last hold ended or was to begin. */
  volatile long queuedAt;

  volatile long heldAt;
  private final AtomicInteger holds = new AtomicInteger();

  /** When the first request was sent that nothing was heard since; 0 if something was. */
  private volatile long silentSince;

  /** What waits for a whole TTL. */
  final List<Runnable> whenFullTtl = new ArrayList<>();

  long confirmedBeat;
  long pendingBeat;

  /** How long the session lives from the renewal with the pending beat on. */
  Duration pendingTtl;

  int failures;
  boolean suspect;

  /** It was lost because its time was over, not because the store said so. */
  private volatile boolean overdue;

  /** Why the last renewal failed; null since one was answered. */
  @Nullable Throwable renewalFailure;

  /** When the timers are due that are set. */
  private volatile long renewalDue;

  private volatile long deadlineDue;

  /** When the thread of the timers came back from sending a renewal, which may do local work. */
  private volatile long renewalReturned;

  /** The latest time that a timer ran late by a great part of the TTL. */
  private volatile ProcessPause paused = new ProcessPause(0, 0);

  /** The host's count of suspended time when it was last looked at, unless little was added. */
  long suspendedSeen;

  /** How much of it was found to fall into this session's life. */
  private volatile long suspendedNanos;

  /** What was added to that lately. */
  private volatile HostSuspension lately = new HostSuspension(0, 0);

  final List<Long> seen = new ArrayList<>();
  EngineScheduler.@Nullable ScheduledTimer renewal;
  EngineScheduler.@Nullable ScheduledTimer deadline;
  @Nullable ClockSample clock;

  enum LiveSessionPhase {
    OPENING,
    OPEN,
    ENDED
  }

  /** Found at this time: what was sent before it counts for less by so much. */
  private record HostSuspension(long foundAt, long nanos) {}

  /** Found at this time: a timer ran so much later than it was due. */
  private record ProcessPause(long foundAt, long nanos) {}

  /** When the store told its time, between which two local times. */
  record ClockSample(long storeMicros, long sentAt, long receivedAt, long suspendedNanos) {}

  LiveSession(Engine engine, StoreSession store, Duration ttl) {
    this.engine = engine;
    this.store = store;
    this.pendingTtl = ttl;
    this.renewalReturned = engine.env.now();
  }

  void sent(long now) {
    if (silentSince == 0) {
      // A nanosecond off at most: 0 means that nothing is owed.
      silentSince = now | 1;
    }
  }

  /** How long nothing was heard although something was asked. */
  long silentNanos(long now) {
    long since = silentSince;
    return since == 0 ? 0 : now - since;
  }

  void heard() {
    if (silentSince != 0) {
      silentSince = 0;
    }
  }

  /** How many claims are held through it. */
  int holds() {
    return holds.get();
  }

  void holdBegins() {
    holds.incrementAndGet();
  }

  void holdEnds() {
    if (holds.decrementAndGet() == 0) {
      heldAt = engine.env.now();
    }
  }

  List<Runnable> takeWhenFullTtl() {
    List<Runnable> taken = List.copyOf(whenFullTtl);
    whenFullTtl.clear();
    return taken;
  }

  @Override
  public Engine engine() {
    return engine;
  }

  SessionId id() {
    return store.id();
  }

  AttemptId attempt(long number) {
    return new AttemptId(store.id(), number);
  }

  long nextAttempt() {
    return attempts.incrementAndGet();
  }

  @Override
  public long validUntil() {
    return validUntil;
  }

  /** A later reply of an earlier request never shortens; the deadline only moves on. */
  void extendTo(long until) {
    if (validUntil == Long.MIN_VALUE || until - validUntil > 0) {
      validUntil = until;
    }
  }

  /** From now on the session lives no longer than that, unless a later renewal says so. */
  void shortenTo(long until) {
    if (until - validUntil < 0) {
      validUntil = until;
    }
  }

  /** How long the host is known to have slept since the session began. */
  long suspendedNanos() {
    return suspendedNanos;
  }

  /**
   * Nothing that was counted from before the sleep lasts as long as it seemed to. Only ever called
   * under the session renewer's lock, like all that writes the validity.
   */
  void addSuspension(long nanos) {
    long before = suspendedNanos;
    suspendedNanos = before + nanos;
    long now = engine.env.now();
    HostSuspension last = lately;
    boolean counts = now - last.foundAt() < engine.env.ttlNanos();
    lately = new HostSuspension(now, nanos + (counts ? last.nanos() : 0));
    long until = validUntil;
    if (until != Long.MIN_VALUE) {
      validUntil = until - nanos;
    }
  }

  void renewalDueIn(long delay) {
    renewalDue = engine.env.now() + delay;
  }

  void deadlineDueIn(long delay) {
    deadlineDue = engine.env.now() + delay;
  }

  /** The timer of a renewal, or of the deadline, runs now. */
  void renewalRuns(long now) {
    noteLateness(now, now - renewalDue);
  }

  void deadlineRuns(long now) {
    noteLateness(now, now - deadlineDue);
  }

  void renewalReturned() {
    renewalReturned = engine.env.now();
  }

  private void noteLateness(long now, long late) {
    if (Math.min(late, now - renewalReturned) >= leastPause()) {
      paused = new ProcessPause(now, Math.min(late, now - renewalReturned));
    }
  }

  /** A timer that is late by less has not lost a session: a renewal is due after a third of it. */
  private long leastPause() {
    return engine.env.ttlNanos() / 3;
  }

  /**
   * What kept this process from renewing in time: the host was suspended, or the process did not
   * run. Empty if there is no sign of either.
   */
  String pauseText() {
    long now = engine.env.now();
    long ttl = engine.env.ttlNanos();
    String ofTtl = " (TTL " + DurationText.format(engine.env.ttl()) + ")";
    HostSuspension slept = lately;
    if (slept.nanos() >= leastPause() && now - slept.foundAt() < ttl) {
      return "this host was suspended for " + text(slept.nanos()) + ofTtl;
    }
    ProcessPause found = paused;
    long stood = found.nanos() > 0 && now - found.foundAt() < ttl ? found.nanos() : 0;
    if (phase == LiveSessionPhase.OPEN) {
      // A thread that was stopped as well may look before the timers run.
      stood = Math.max(stood, Math.min(now - renewalDue, now - renewalReturned));
    }
    return stood < leastPause()
        ? ""
        : "this process stood still for at least "
            + text(stood)
            + ofTtl
            + ": garbage collection, or a stopped host";
  }

  private static String text(long nanos) {
    return DurationText.format(Duration.ofNanos(nanos));
  }

  /** Its time is over. */
  void becomesOverdue() {
    overdue = true;
  }

  /** Whether it was not renewed in time, by what this process knows. */
  boolean isOverdue() {
    return overdue || !pauseText().isEmpty();
  }

  /** The store may have forgotten all that it answered before now. */
  void doubt(long now) {
    // Only ever called under the session renewer's lock.
    int before = incarnationChanges;
    doubtedAt = now;
    incarnationChanges = before + 1;
  }

  /** Whether its store can forget what it answered. */
  boolean mayBeForgotten() {
    return !incarnation.isEmpty();
  }

  int incarnationChanges() {
    return incarnationChanges;
  }

  /** Whether a push may be from before the latest doubt: so long may it have been on its way. */
  boolean mayBeOutdated(long now, long inFlight) {
    return incarnationChanges > 0 && now - doubtedAt - inFlight <= 0;
  }

  /** Until when a member of the store may be relied upon whose renewal was sent at this time. */
  long deadline(long sentAt) {
    long ttl = engine.env.ttlNanos();
    long until = sentAt + ttl - engine.env.rules().safetyMargin(ttl);
    HostSuspension hostSuspension = lately;
    return sentAt - hostSuspension.foundAt() < 0 ? until - hostSuspension.nanos() : until;
  }

  void end() {
    phase = LiveSessionPhase.ENDED;
    validUntil = Long.MIN_VALUE;
    whenFullTtl.clear();
    if (renewal != null) {
      renewal.cancel();
    }
    if (deadline != null) {
      deadline.cancel();
    }
  }
}
