package io.mortise.internal.engine;

import io.mortise.StoreUnavailableException;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.runtime.VirtualThreads;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.session.SessionLifecycleListener;
import io.mortise.internal.session.SessionRenewer;
import io.mortise.internal.session.SessionReporter;
import io.mortise.internal.session.StoreSilence;
import io.mortise.spi.LockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The session of an engine's holds, and the claims that wait for a session. A stripe's lock may be
 * held while this calls the {@link SessionRenewer}, which takes a lock of its own.
 */
final class EngineSessions {
  private final LockStore store;
  private final EngineSettings settings;
  private final SessionReporter reporter;
  private final SessionRenewer sessionRenewer;

  /** Claims that wait for a session. */
  private final ConcurrentLinkedQueue<Claim> unsent = new ConcurrentLinkedQueue<>();

  EngineSessions(
      LockStore store,
      EngineSettings settings,
      SessionReporter reporter,
      SessionLifecycleListener listener) {
    this.store = store;
    this.settings = settings;
    this.reporter = reporter;
    this.sessionRenewer = new SessionRenewer(store, settings.env(), reporter, listener);
  }

  /** The open session; null if the claim has to wait for it. */
  @Nullable LiveSession sessionFor(Claim claim) {
    LiveSession session = sessionRenewer.open();
    if (session == null) {
      StoreUnavailableException loss = sessionRenewer.repeatedLoss();
      if (loss != null) {
        claim.storeFailed(loss, settings.now());
      }
      unsent.add(claim);
      // It may have opened before the claim was in the queue.
      session = sessionRenewer.open();
      if (session != null) {
        unsent.remove(claim);
      }
    }
    return session;
  }

  /** Reports an open session. */
  void opened(LiveSession session) {
    reporter.opened(session);
  }

  /**
   * The claims that wait for a session now. Claims that come back because this session is lost
   * meanwhile wait for the next.
   */
  List<Claim> takeUnsent() {
    List<Claim> taken = new ArrayList<>();
    for (Claim claim = unsent.poll(); claim != null; claim = unsent.poll()) {
      taken.add(claim);
    }
    return taken;
  }

  /** Keeps the waiting claims that satisfy the predicate. */
  void keepUnsent(Predicate<Claim> waits) {
    unsent.removeIf(waits.negate());
  }

  /** Reports a lost session, and opens one if a claim waits for it. */
  void lost(LiveSession session, int leases, String reason) {
    reporter.lost(session, leases, reason);
    if (!unsent.isEmpty()) {
      sessionRenewer.open();
    }
  }

  /** The open session; null if none is. Opens none. */
  @Nullable LiveSession current() {
    return sessionRenewer.current();
  }

  /** Records that an attempt of the session was told to wait. */
  void waits(LiveSession session) {
    sessionRenewer.waits(session);
  }

  void whenFullTtl(LiveSession session, Runnable call) {
    sessionRenewer.whenFullTtl(session, call);
  }

  /** Checks whether the host was suspended: the session's leases then end earlier. */
  void noteSuspension(LiveSession session) {
    sessionRenewer.noteSuspension(session);
  }

  /** Handles a break of the way by which the session's notifications arrive. */
  void connectionLost(LiveSession session, String cause) {
    sessionRenewer.connectionLost(session, cause);
  }

  /** Drops a session that the store no longer knows. */
  void drop(LiveSession session) {
    String pause = session.pauseText();
    sessionRenewer.lose(
        session, "the store no longer knows its session" + (pause.isEmpty() ? "" : "; " + pause));
  }

  /** The time since which the store owes an answer. */
  StoreSilence silence() {
    return sessionRenewer.silence();
  }

  /** Called by a thread about to park for an answer; see {@link LockStore#helpWhileWaiting}. */
  void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    if (!VirtualThreads.isCurrent()) {
      store.helpWhileWaiting(done, longest);
    }
  }

  /** Ends the session. */
  CompletionStage<Void> close() {
    return sessionRenewer.close();
  }
}
