package io.mortise.internal.session;

import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.EngineScheduler;
import io.mortise.internal.runtime.FailureText;
import io.mortise.spi.AttemptId;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.DurationText;
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
public final class LiveSession implements Validity {
  private final StoreSession store;
  private final EngineEnv env;
  private final SessionLifecycleListener listener;
  private final String storeName;
  private final StoreSilence silence;
  private final AtomicLong attempts = new AtomicLong();

  /** The only thing about a session that hot paths read. */
  private volatile long validUntil;

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

  /** What waits for a whole TTL. */
  final List<Runnable> whenFullTtl = new ArrayList<>();

  long confirmedBeat;
  long pendingBeat;

  /** How long the session lives from the renewal with the pending beat on. */
  Duration pendingTtl;

  /** When the pending beat was sent first, and how long the host had slept by then. */
  long beatSentAt;

  long beatSuspended;

  int failures;
  boolean suspect;

  private volatile long confirmedAt;
  private volatile long missedAt;

  /** What the store said last. */
  private volatile boolean receivesPushes = true;

  /** Why it was lost; null if it was not. */
  private volatile @Nullable String lostReason;

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

  LiveSession(
      SessionLifecycleListener listener,
      EngineEnv env,
      String storeName,
      StoreSilence silence,
      StoreSession store) {
    this.listener = listener;
    this.env = env;
    this.storeName = storeName;
    this.silence = silence;
    this.store = store;
    this.pendingTtl = env.ttl();
    long now = env.now();
    this.validUntil = now;
    this.confirmedAt = now;
    this.missedAt = now;
    this.renewalReturned = now;
  }

  /** The pending beat is a new one, about to be sent. */
  void beatDrawn(long now, long suspendedNanos) {
    beatSentAt = now;
    beatSuspended = suspendedNanos;
  }

  /** A request was sent, to which an answer is owed. */
  public void sent(long now) {
    silence.sent(now);
  }

  /** For how long no renewal was answered, for messages. Other requests may have been. */
  String renewalSilenceText(long now) {
    return text(now - beatSentAt);
  }

  /** Something was answered. */
  public void heard() {
    silence.heard(env);
  }

  /** A renewal has failed that was sent then. */
  void renewalFailed(Throwable cause, long sentAt) {
    failures++;
    renewalFailure = cause;
    silence.failed(cause, sentAt);
  }

  /** How many claims are held through it. */
  int holds() {
    return holds.get();
  }

  /** A claim is held through it from now on. */
  public void holdBegins() {
    holds.incrementAndGet();
  }

  /** A claim is not held any more. */
  public void holdEnds() {
    if (holds.decrementAndGet() == 0) {
      heldAt = env.now();
    }
  }

  List<Runnable> takeWhenFullTtl() {
    List<Runnable> taken = List.copyOf(whenFullTtl);
    whenFullTtl.clear();
    return taken;
  }

  @Override
  public LiveSession session() {
    return this;
  }

  /** What hears of the session's life: the engine finds itself by it. */
  public SessionLifecycleListener listener() {
    return listener;
  }

  /** The store's name, as messages show it. */
  String storeName() {
    return storeName;
  }

  /** The session as the store sees it. */
  public StoreSession store() {
    return store;
  }

  /** The time by which its validity counts. */
  long now() {
    return env.now();
  }

  /** Whether it is over on this side, for good. */
  public boolean hasEnded() {
    return phase == LiveSessionPhase.ENDED;
  }

  /** Whether it lives for less than its TTL: until a whole one is confirmed, no grant counts. */
  public boolean hasShortTtl() {
    return hasShortTtl;
  }

  /** Its id in the store. */
  public SessionId id() {
    return store.id();
  }

  /** The attempt of this number. */
  public AttemptId attempt(long number) {
    return new AttemptId(store.id(), number);
  }

  /** The number of a new attempt. */
  public long nextAttempt() {
    return attempts.incrementAndGet();
  }

  /**
   * Whether the store's pushes arrive: they can, and a renewal was confirmed that was sent after
   * the last sign that they are missed.
   */
  public boolean isCallable() {
    return receivesPushes && !isUnconfirmed();
  }

  /** Whether no renewal was confirmed yet that was sent after the last sign of missed pushes. */
  public boolean isUnconfirmed() {
    return confirmedAt - missedAt <= 0;
  }

  /** Whether the store's pushes may reach this process, as far as is known. */
  public boolean receivesPushes() {
    if (receivesPushes && !store.receivesPushes()) {
      receivesPushes = false;
    }
    return receivesPushes;
  }

  /** Pushes may be missed from now on. */
  void missesCalls() {
    missedAt = env.now();
  }

  /** A renewal was confirmed that was sent then. */
  void confirmed(long sentAt) {
    receivesPushes = store.receivesPushes();
    if (sentAt - confirmedAt >= 0) {
      confirmedAt = sentAt + 1;
    }
  }

  @Override
  public long validUntil() {
    return validUntil;
  }

  /** A later reply of an earlier request never shortens; the deadline only moves on. */
  void extendTo(long until) {
    if (until - validUntil > 0) {
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
  public long suspendedNanos() {
    return suspendedNanos;
  }

  /**
   * Nothing that was counted from before the sleep lasts as long as it seemed to. Only ever called
   * under the session renewer's lock, like all that writes the validity.
   */
  void addSuspension(long nanos) {
    long before = suspendedNanos;
    suspendedNanos = before + nanos;
    long now = env.now();
    HostSuspension last = lately;
    boolean counts = now - last.foundAt() < env.ttlNanos();
    lately = new HostSuspension(now, nanos + (counts ? last.nanos() : 0));
    shortenTo(validUntil - nanos);
  }

  void renewalDueIn(long delay) {
    renewalDue = env.now() + delay;
  }

  void deadlineDueIn(long delay) {
    deadlineDue = env.now() + delay;
  }

  /** The timer of a renewal, or of the deadline, runs now. */
  void renewalRuns(long now) {
    noteLateness(now, now - renewalDue);
  }

  void deadlineRuns(long now) {
    noteLateness(now, now - deadlineDue);
  }

  void renewalReturned() {
    renewalReturned = env.now();
  }

  private void noteLateness(long now, long late) {
    if (Math.min(late, now - renewalReturned) >= leastPause()) {
      paused = new ProcessPause(now, Math.min(late, now - renewalReturned));
    }
  }

  /** A timer that is late by less has not lost a session: a renewal is due after a third of it. */
  private long leastPause() {
    return env.ttlNanos() / 3;
  }

  /**
   * What kept this process from renewing in time: the host was suspended, or the process did not
   * run. Empty if there is no sign of either.
   */
  public String pauseText() {
    long now = env.now();
    long ttl = env.ttlNanos();
    String ofTtl = " (TTL " + DurationText.format(env.ttl()) + ")";
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

  /** A reason, and what kept this process from renewing in time, if something did. */
  String withPause(String reason) {
    String pause = pauseText();
    return pause.isEmpty() ? reason : reason + "; " + pause;
  }

  /** Why it is lost when its time is over; a pause tells more than a failed renewal does. */
  String overdueReason(Duration lifetime, @Nullable Throwable lastFailure) {
    String reason = "it was not renewed within its TTL of " + DurationText.format(lifetime);
    if (lastFailure != null && pauseText().isEmpty()) {
      String said = FailureText.withoutStore(storeName, FailureText.said(lastFailure));
      reason += "; the last try failed: " + FailureText.withoutFullStop(said);
    }
    return withPause(reason);
  }

  private static String text(long nanos) {
    return DurationText.format(Duration.ofNanos(nanos));
  }

  /** Why it was lost; null if it was not. */
  public @Nullable String lostReason() {
    return lostReason;
  }

  /** Its time is over. */
  void becomesOverdue() {
    overdue = true;
  }

  /** Whether it was not renewed in time, by what this process knows. */
  public boolean isOverdue() {
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
  public boolean mayBeForgotten() {
    return !incarnation.isEmpty();
  }

  /** How often the store may have forgotten what it had answered. */
  public int incarnationChanges() {
    return incarnationChanges;
  }

  /** Whether a push may be from before the latest doubt: so long may it have been on its way. */
  public boolean mayBeOutdated(long now, long inFlight) {
    return incarnationChanges > 0 && now - doubtedAt - inFlight <= 0;
  }

  /** Until when a member of the store may be relied upon whose renewal was sent at this time. */
  long deadline(long sentAt) {
    long ttl = env.ttlNanos();
    long until = sentAt + ttl - env.rules().safetyMargin(ttl);
    HostSuspension hostSuspension = lately;
    return sentAt - hostSuspension.foundAt() < 0 ? until - hostSuspension.nanos() : until;
  }

  void end(@Nullable String reason) {
    lostReason = reason;
    phase = LiveSessionPhase.ENDED;
    shortenTo(env.now());
    whenFullTtl.clear();
    if (renewal != null) {
      renewal.cancel();
    }
    if (deadline != null) {
      deadline.cancel();
    }
  }
}
