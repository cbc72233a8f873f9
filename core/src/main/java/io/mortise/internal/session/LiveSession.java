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
 * except the validity.
 */
public final class LiveSession implements Validity {
  private final StoreSession store;
  private final EngineEnv env;
  private final SessionLifecycleListener listener;
  private final String storeName;
  private final StoreSilence silence;
  private final AtomicLong attempts = new AtomicLong();

  /** The only field of a session that hot paths read. */
  private volatile long validUntil;

  volatile LiveSessionPhase phase = LiveSessionPhase.OPENING;

  /** The server's incarnation, and the sending time of the renewal that reported it. */
  volatile String incarnation = "";

  long memoryAt;

  /** How often the server was found to be another incarnation, and when that was last. */
  private volatile int incarnationChanges;

  private volatile long doubtedAt;

  /** Set until a whole TTL is confirmed again; no grant counts until then. */
  volatile boolean hasShortTtl;

  /** Whether a check is due that the process waits and holds nothing. */
  volatile boolean shortening;

  /** The last time when an attempt was told to wait, and when the last hold ended or was due. */
  volatile long queuedAt;

  volatile long heldAt;
  private final AtomicInteger holds = new AtomicInteger();

  /** Callbacks for a whole TTL. */
  final List<Runnable> whenFullTtl = new ArrayList<>();

  long confirmedBeat;
  long pendingBeat;

  /** How long the session lives from the renewal with the pending beat on. */
  Duration pendingTtl;

  /** The time of the first sending of the pending beat, and the host's suspension by then. */
  long beatSentAt;

  long beatSuspended;

  int failures;
  boolean suspect;

  private volatile long confirmedAt;
  private volatile long missedAt;

  /** The store's last report. */
  private volatile boolean receivesPushes = true;

  /** The reason of its loss; null if it was not lost. */
  private volatile @Nullable String lostReason;

  /** It was lost because its time was over, not because the store reported it. */
  private volatile boolean overdue;

  /** The failure of the last renewal; null since one was answered. */
  @Nullable Throwable renewalFailure;

  /** The due times of the timers that are set. */
  private volatile long renewalDue;

  private volatile long deadlineDue;

  /** When the timer thread returned from sending a renewal, which may do local work. */
  private volatile long renewalReturned;

  /** The last time that a timer ran late by a great part of the TTL. */
  private volatile ProcessPause paused = new ProcessPause(0, 0);

  /** The host's suspended time at the last check, unless little was added since. */
  long suspendedSeen;

  /** The part of it that falls into this session's life. */
  private volatile long suspendedNanos;

  /** The last addition to that. */
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

  /** A suspension found at this time: earlier requests count for less by this length. */
  private record HostSuspension(long foundAt, long nanos) {}

  /** A pause found at this time: a timer ran this much later than it was due. */
  private record ProcessPause(long foundAt, long nanos) {}

  /** The store's time, and the local times between which it was read. */
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

  /** Records that the pending beat is a new one, about to be sent. */
  void beatDrawn(long now, long suspendedNanos) {
    beatSentAt = now;
    beatSuspended = suspendedNanos;
  }

  /** Records that a request was sent, to which an answer is owed. */
  public void sent(long now) {
    silence.sent(now);
  }

  /** How long no renewal was answered, for messages. Other requests may have been answered. */
  String renewalSilenceText(long now) {
    return text(now - beatSentAt);
  }

  /** Records an answer. */
  public void heard() {
    silence.heard(env);
  }

  /** Records the failure of a renewal that was sent at this time. */
  void renewalFailed(Throwable cause, long sentAt) {
    failures++;
    renewalFailure = cause;
    silence.failed(cause, sentAt);
  }

  /** The number of claims that hold through it. */
  int holds() {
    return holds.get();
  }

  /** Counts a claim that begins to hold through it. */
  public void holdBegins() {
    holds.incrementAndGet();
  }

  /** Counts a claim that no longer holds. */
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

  /** The listener of the session's life; the engine finds itself by it. */
  public SessionLifecycleListener listener() {
    return listener;
  }

  /** The store's name in messages. */
  String storeName() {
    return storeName;
  }

  /** The store's view of the session. */
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

  /** Whether it lives for less than its TTL: no grant counts until a whole one is confirmed. */
  public boolean hasShortTtl() {
    return hasShortTtl;
  }

  public SessionId id() {
    return store.id();
  }

  /** The attempt with this number. */
  public AttemptId attempt(long number) {
    return new AttemptId(store.id(), number);
  }

  /** The number of a new attempt. */
  public long nextAttempt() {
    return attempts.incrementAndGet();
  }

  /**
   * Whether the store's pushes arrive: the store can push, and has confirmed a renewal sent after
   * the last sign of missed pushes.
   */
  public boolean isCallable() {
    return receivesPushes && !isUnconfirmed();
  }

  /** Whether no renewal has been confirmed that was sent after the last sign of missed pushes. */
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

  /** Records that pushes may be missed from now on. */
  public void missesCalls() {
    missedAt = env.now();
  }

  /** Records a confirmed renewal that was sent at this time. */
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

  /** Extends the validity. A late reply of an earlier request never shortens it. */
  void extendTo(long until) {
    if (until - validUntil > 0) {
      validUntil = until;
    }
  }

  /** Limits the validity to this time, unless a later renewal extends it. */
  void shortenTo(long until) {
    if (until - validUntil < 0) {
      validUntil = until;
    }
  }

  /** The host's known suspension since the session began. */
  public long suspendedNanos() {
    return suspendedNanos;
  }

  /**
   * Adds a suspension: all times counted from before it are shorter than they seemed. Called only
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

  /** Records that the timer of a renewal, or of the deadline, runs now. */
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

  /**
   * The shortest pause that counts: with less a timer has not lost a session, because a renewal is
   * due after a third of it.
   */
  private long leastPause() {
    return env.ttlNanos() / 3;
  }

  /**
   * The reason why this process did not renew in time: the host was suspended, or the process did
   * not run. Empty if there is no sign of either.
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
      // A thread that was paused as well may check before the timers run.
      stood = Math.max(stood, Math.min(now - renewalDue, now - renewalReturned));
    }
    return stood < leastPause()
        ? ""
        : "this process stood still for at least "
            + text(stood)
            + ofTtl
            + ": garbage collection, or a stopped host";
  }

  /** Adds to a reason why this process did not renew in time, if that is known. */
  String withPause(String reason) {
    String pause = pauseText();
    return pause.isEmpty() ? reason : reason + "; " + pause;
  }

  /** The reason of a loss by time; a pause explains more than a failed renewal. */
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

  /** The reason of its loss; null if it was not lost. */
  public @Nullable String lostReason() {
    return lostReason;
  }

  /** Records that its time is over. */
  void becomesOverdue() {
    overdue = true;
  }

  /** Whether it was not renewed in time, by this process's knowledge. */
  public boolean isOverdue() {
    return overdue || !pauseText().isEmpty();
  }

  /** Records that the store may have forgotten all its answers before now. */
  void doubt(long now) {
    // Called only under the session renewer's lock.
    int before = incarnationChanges;
    doubtedAt = now;
    incarnationChanges = before + 1;
  }

  /** Whether its store can forget grants that it answered. */
  public boolean mayBeForgotten() {
    return !incarnation.isEmpty();
  }

  /** How often the store may have forgotten grants. */
  public int incarnationChanges() {
    return incarnationChanges;
  }

  /** Whether a push may be from before the latest doubt, given its longest time in flight. */
  public boolean mayBeOutdated(long now, long inFlight) {
    return incarnationChanges > 0 && now - doubtedAt - inFlight <= 0;
  }

  /** Until when a member of the store counts whose renewal was sent at this time. */
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
