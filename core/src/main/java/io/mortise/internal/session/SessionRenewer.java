package io.mortise.internal.session;

import io.mortise.StoreUnavailableException;
import io.mortise.event.LockListener.RenewalOutcome;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.FailureText;
import io.mortise.internal.session.LiveSession.ClockSample;
import io.mortise.internal.session.LiveSession.LiveSessionPhase;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps this process's session alive: one renewal per third of its TTL, for any number of holds.
 *
 * <p><b>Deadline.</b> The session is valid until the send time of the last acknowledged renewal
 * plus the TTL, less drift and margin. At that time a local timer ends it, whether or not the store
 * is reachable: under the stated assumptions about clocks that is before the store can grant to
 * another.
 *
 * <p><b>A failed renewal</b> neither extends nor ends the session. It is retried, with the same
 * beat, until the deadline; a try without an answer is followed by another after a sixth of the
 * TTL. A late answer extends from its own send time; if others judge the session by its beat
 * ({@link io.mortise.spi.StoreSession#isJudgedByBeat}), from the first sending of that beat.
 *
 * <p><b>A process that waits and holds nothing</b> renews each second for three, if the store can:
 * when the process stops, its place in the queue is given up soon. A grant counts only after a
 * renewal for the whole TTL has been confirmed. A retried renewal keeps its TTL, so that a
 * straggler never cuts a longer one short.
 *
 * <p><b>A lost session</b> is never used again. Its leases are lost, and its waits start over under
 * the next session, which is opened when needed. One lock guards everything; no engine code is
 * called under it.
 */
public final class SessionRenewer {
  private static final Logger log = LoggerFactory.getLogger(SessionRenewer.class);

  private final ReentrantLock guard = new ReentrantLock();
  private final LockStore store;
  private final SessionReporter reporter;
  private final EngineEnv env;
  private final SessionLifecycleListener listener;
  private final long ttl;
  private final SessionTtl sessionTtl;
  private final SessionClocks clocks;
  private final ShortTtlTimer shortTtlTimer;
  private final RenewalOutage outage;
  private final StoreSilence silence = new StoreSilence();
  private final ReopenBackoff reopenBackoff;
  private @Nullable LiveSession current;
  private boolean closed;

  public SessionRenewer(
      LockStore store, EngineEnv env, SessionReporter reporter, SessionLifecycleListener listener) {
    this.store = store;
    this.reporter = reporter;
    this.env = env;
    this.listener = listener;
    this.ttl = env.ttlNanos();
    this.sessionTtl = new SessionTtl(store.profile(), env);
    this.clocks = new SessionClocks(env, store.profile().display());
    this.shortTtlTimer =
        new ShortTtlTimer(guard, env, sessionTtl, session -> reschedule(session, 0));
    this.outage = new RenewalOutage(guard, env, reporter);
    this.reopenBackoff = new ReopenBackoff(env, store.profile().display());
  }

  /** The open session; else null, and {@link SessionLifecycleListener#opened} follows. */
  public @Nullable LiveSession open() {
    LiveSession opening;
    guard.lock();
    try {
      if (current != null || closed) {
        return current != null && current.phase == LiveSessionPhase.OPEN ? current : null;
      }
      SessionId id = SessionId.random(env.random());
      SessionSpec spec = new SessionSpec(id, env.ttl(), env.client());
      StoreSession inStore = store.open(spec, notification -> hint(id, notification));
      opening = new LiveSession(listener, env, name(), silence, inStore);
      sessionTtl.begin(opening);
      opening.suspendedSeen = env.suspended().nanos();
      current = opening;
      // Not from here, even without a pause: the caller may hold a lock of the engine.
      reschedule(opening, reopenBackoff.nanos());
    } finally {
      guard.unlock();
    }
    opening
        .store()
        .onSuspectedRestart(
            () -> {
              opening.missesCalls();
              renewNow(opening);
              listener.onReconnected(opening);
            });
    opening.store().onConnectionLost(cause -> connectionLost(opening, cause));
    return null;
  }

  /** The reason why no session stays open; null if one does, as far as is known. */
  public @Nullable StoreUnavailableException repeatedLoss() {
    return reopenBackoff.loss();
  }

  /** The session if it is open; else null. */
  public @Nullable LiveSession current() {
    guard.lock();
    try {
      return current != null && current.phase == LiveSessionPhase.OPEN ? current : null;
    } finally {
      guard.unlock();
    }
  }

  /** Checks the clock that counts the host's suspension, and ends leases earlier by that. */
  public void noteSuspension(LiveSession session) {
    guard.lock();
    try {
      clocks.noteSuspension(session, () -> watchDeadline(session));
    } finally {
      guard.unlock();
    }
  }

  /** The time since which the store owes an answer. */
  public StoreSilence silence() {
    return silence;
  }

  /** Records that the store has put an attempt of the session into its queue, or left it there. */
  public void waits(LiveSession session) {
    shortTtlTimer.waits(session);
  }

  /**
   * Calls back once the session has its whole TTL again: at once if it has, else after a confirmed
   * renewal. Never calls if the session ends before.
   */
  public void whenFullTtl(LiveSession session, Runnable call) {
    boolean whole;
    guard.lock();
    try {
      whole = !session.hasShortTtl;
      session.heldAt = env.now();
      if (!whole && session.phase != LiveSessionPhase.ENDED) {
        session.whenFullTtl.add(call);
        if (session.pendingBeat == session.confirmedBeat) {
          // Otherwise its answer is followed by the next at once.
          reschedule(session, 0);
        }
      }
    } finally {
      guard.unlock();
    }
    if (whole) {
      call.run();
    }
  }

  /** Renews at once after a sign of a restarted or replaced server: the renewal shows whether. */
  private void renewNow(LiveSession session) {
    guard.lock();
    try {
      if (session.phase == LiveSessionPhase.OPEN) {
        reschedule(session, 0);
      }
    } finally {
      guard.unlock();
    }
  }

  /** Handles a break of the way by which notifications arrive. */
  public void connectionLost(LiveSession session, String cause) {
    guard.lock();
    try {
      session.missesCalls();
      if (session.phase == LiveSessionPhase.OPEN && !outage.hasBegun()) {
        outage.connectionLost(session, name(), cause);
        reschedule(session, 0);
      }
    } finally {
      guard.unlock();
    }
  }

  private void hint(SessionId id, SessionNotification sessionNotification) {
    LiveSession session;
    guard.lock();
    try {
      session = current;
    } finally {
      guard.unlock();
    }
    if (session != null && session.id().equals(id)) {
      listener.notification(session, sessionNotification);
    }
  }

  private void renew(LiveSession session) {
    long previous;
    InFlightRenewal inFlight;
    guard.lock();
    try {
      if (session.phase == LiveSessionPhase.ENDED || closed) {
        return;
      }
      session.renewalRuns(env.now());
      long suspendedAt = clocks.noteSuspension(session, () -> watchDeadline(session));
      if (session.pendingBeat == session.confirmedBeat) {
        // A counter, so that it rises, and 20 random bits, so that a cloned process cannot draw the
        // same (invariants.md#beat-compare-and-set).
        session.pendingBeat =
            (((session.confirmedBeat >>> 20) + 1) << 20) | env.random().nextInt(1 << 20);
        session.pendingTtl = sessionTtl.choose(session);
        session.beatDrawn(env.now(), suspendedAt);
      }
      previous = session.confirmedBeat;
      long sentAt = env.now();
      session.sent(sentAt);
      inFlight = InFlightRenewal.of(session, sentAt, suspendedAt, List.copyOf(session.seen));
      if (!sessionTtl.isWhole(inFlight.ttl())) {
        // It may be executed from now on, and then counts, even against an earlier confirmation.
        session.shortenTo(sentAt + sessionTtl.minusSafetyMargin(inFlight.ttl()));
        watchDeadline(session);
      }
      reschedule(session, inFlight.ttl().toNanos() / 6);
    } finally {
      guard.unlock();
    }
    CompletionStage<Renewal> stage =
        CompletionStages.start(
            () ->
                sessionTtl.isWhole(inFlight.ttl())
                    ? session.store().renew(previous, inFlight.beat(), inFlight.seen())
                    : session
                        .store()
                        .renew(previous, inFlight.beat(), inFlight.seen(), inFlight.ttl()));
    session.renewalReturned();
    stage.whenComplete(
        (renewal, error) ->
            renewed(session, inFlight, error == null ? renewal : new Renewal.Unknown(error)));
  }

  private void reschedule(LiveSession session, long delay) {
    if (session.renewal != null) {
      session.renewal.cancel();
    }
    session.renewalDueIn(delay);
    session.renewal = env.renewals().schedule(delay, () -> renew(session));
  }

  private void renewed(LiveSession session, InFlightRenewal sent, Renewal renewal) {
    if (!(renewal instanceof Renewal.Unknown)) {
      session.heard();
      outage.end(session, renewal instanceof Renewal.Renewed);
    }
    if (renewal instanceof Renewal.Renewed answer) {
      extend(session, sent, answer);
      reporter.renewal(session, RenewalOutcome.RENEWED, sent, "");
    } else if (renewal instanceof Renewal.Lost lost) {
      if (isOutdated(session, sent) && env.rules().ignoresOutdatedLoss()) {
        renewNow(session);
      } else {
        reporter.renewal(session, RenewalOutcome.LOST, sent, lost.reason());
        lose(session, session.withPause(lost.reason()));
      }
    } else if (renewal instanceof Renewal.Unknown unknown) {
      Throwable cause = unknown.cause();
      reporter.renewal(session, RenewalOutcome.UNANSWERED, sent, FailureText.said(cause));
      retry(session, sent, cause);
    }
  }

  /** Whether a later try has been confirmed: then the store's refusal of this one was right. */
  private boolean isOutdated(LiveSession session, InFlightRenewal sent) {
    guard.lock();
    try {
      return sent.beat() <= session.confirmedBeat;
    } finally {
      guard.unlock();
    }
  }

  private void extend(LiveSession session, InFlightRenewal sent, Renewal.Renewed answer) {
    boolean opened = false;
    List<Runnable> whole = List.of();
    switch (incarnation(session, sent, answer.incarnation())) {
      case OLDER -> {
        // The answer comes from a server that is no longer in use.
        return;
      }
      case OTHER -> listener.inDoubt(session);
      default -> {}
    }
    // First, so that ended holds do not get more time.
    answer.notifications().stream()
        .filter(item -> item.notification() instanceof SessionNotification.HoldEnded)
        .forEach(item -> listener.notification(session, item.notification()));
    guard.lock();
    try {
      if (session.phase == LiveSessionPhase.ENDED) {
        return;
      }
      long now = env.now();
      long suspendedNanos =
          clocks.noteSuspension(session, () -> watchDeadline(session)) - sent.suspended();
      long until =
          env.rules().validFrom(sent.countsFrom(), now) + sessionTtl.minusSafetyMargin(sent.ttl());
      if (suspendedNanos > SessionClocks.SLEEP_NANOS) {
        // The store's time continued while the request or its answer waited here.
        until -= suspendedNanos;
      }
      clocks.compare(
          session, new ClockSample(answer.storeMicros(), sent.at(), now, session.suspendedNanos()));
      boolean overtaken = session.hasShortTtl && sent.beat() < session.pendingBeat;
      if (until - now > 0
          && !overtaken
          && !(InFlightRenewal.moreHasGone(answer) && env.rules().appliesEndedHoldsFirst())) {
        session.extendTo(until);
        opened = session.phase == LiveSessionPhase.OPENING;
        if (opened) {
          reopenBackoff.opened();
        }
        session.phase = LiveSessionPhase.OPEN;
        if (sessionTtl.isWhole(sent.ttl())) {
          session.hasShortTtl = false;
          whole = session.takeWhenFullTtl();
        }
      }
      session.confirmedBeat = Math.max(session.confirmedBeat, sent.beat());
      session.seen.removeAll(sent.seen());
      answer.notifications().forEach(item -> session.seen.add(item.id()));
      session.suspect = false;
      session.confirmed(sent.at());
      session.failures = 0;
      session.renewalFailure = null;
      boolean soon =
          answer.more()
              || session.phase == LiveSessionPhase.OPENING
              || !session.whenFullTtl.isEmpty();
      long pause = env.jittered(sent.ttl().toNanos() / 3) - (now - sent.countsFrom());
      if (soon || !overtaken) {
        reschedule(session, soon ? 0 : Math.max(0, pause));
      }
      watchDeadline(session);
    } finally {
      guard.unlock();
    }
    if (opened) {
      listener.opened(session);
    }
    whole.forEach(Runnable::run);
    answer.notifications().stream()
        .filter(item -> !(item.notification() instanceof SessionNotification.HoldEnded))
        .forEach(item -> listener.notification(session, item.notification()));
  }

  private IncarnationComparison incarnation(
      LiveSession session, InFlightRenewal sent, String incarnation) {
    guard.lock();
    try {
      return env.rules().revalidatesAfterRestart()
          ? IncarnationComparison.of(session, sent.at(), incarnation, env.now())
          : IncarnationComparison.SAME;
    } finally {
      guard.unlock();
    }
  }

  private void watchDeadline(LiveSession session) {
    if (session.deadline != null) {
      session.deadline.cancel();
    }
    if (session.phase == LiveSessionPhase.OPEN && env.rules().losesAtDeadline()) {
      long left = session.leftNanos();
      boolean warns = !session.suspect && !session.hasShortTtl;
      long delay = warns ? left - ttl / 3 : left;
      session.deadlineDueIn(Math.max(0, delay));
      session.deadline = env.renewals().schedule(delay, () -> overdue(session));
    }
  }

  private void overdue(LiveSession session) {
    Throwable cause;
    guard.lock();
    try {
      if (session.phase != LiveSessionPhase.OPEN) {
        return;
      }
      long now = env.now();
      session.deadlineRuns(now);
      long left = session.leftNanos();
      if (left > 0) {
        if (!session.suspect && !session.hasShortTtl && left <= ttl / 3) {
          session.suspect = true;
          session.missesCalls();
          String pause = session.pauseText();
          outage.begin(
              session,
              pause.isEmpty()
                  ? "Store %s has not answered a renewal for %s."
                      .formatted(name(), session.renewalSilenceText(now))
                  : "Renewal in store %s is late: %s.".formatted(name(), pause));
        }
        watchDeadline(session);
        return;
      }
      cause = session.renewalFailure;
      session.becomesOverdue();
    } finally {
      guard.unlock();
    }
    lose(session, session.overdueReason(sessionTtl.of(session), cause));
  }

  private void retry(LiveSession session, InFlightRenewal failed, Throwable cause) {
    boolean opening;
    guard.lock();
    try {
      if (session.phase == LiveSessionPhase.ENDED) {
        return;
      }
      opening = session.phase == LiveSessionPhase.OPENING;
      session.renewalFailed(cause, failed.at());
      if (!opening) {
        outage.begin(session, FailureText.about(name(), FailureText.said(cause)));
      }
      if (env.rules().retriesRenewal()) {
        long most = session.pendingTtl.toNanos() / 12;
        long backoff = Math.min(most, 10_000_000L << Math.min(session.failures, 10));
        reschedule(session, env.jittered(backoff));
      } else if (session.renewal != null) {
        session.renewal.cancel();
      }
    } finally {
      guard.unlock();
    }
    log.debug("Renewal of session {} in store {} got no answer.", session.id(), name(), cause);
    if (opening) {
      listener.openFailed(cause);
    }
  }

  /** Ends the session on this side, for good. */
  public void lose(LiveSession session, String reason) {
    guard.lock();
    try {
      if (session.phase == LiveSessionPhase.ENDED) {
        return;
      }
      session.end(reason);
      reopenBackoff.lost(reason);
      if (current == session) {
        current = null;
      }
    } finally {
      guard.unlock();
    }
    listener.lost(session, reason);
    session.store().close();
  }

  /** Ends the session on both sides; its leases and waits must have been ended before. */
  public CompletionStage<Void> close() {
    LiveSession last;
    guard.lock();
    try {
      closed = true;
      last = current;
      current = null;
      if (last != null) {
        last.end(null);
      }
    } finally {
      guard.unlock();
    }
    if (last != null) {
      reporter.closed(last);
      return last.store().close();
    }
    return CompletableFuture.completedFuture(null);
  }

  private String name() {
    return store.profile().display();
  }
}
