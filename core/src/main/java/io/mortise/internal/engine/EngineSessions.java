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
 * The session through which an engine holds, and the claims that wait for one. A stripe's lock may
 * be held while this asks the {@link SessionRenewer}, which takes a lock of its own.
 */
final class EngineSessions {
  private final LockStore store;
  private final EngineSettings settings;
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
      // It may have opened in between, before the claim was there to be found.
      session = sessionRenewer.open();
      if (session != null) {
        unsent.remove(claim);
      }
    }
    return session;
  }

  /**
   * The claims that wait for a session now: those that come back when this one is lost meanwhile
   * wait for the next.
   */
  List<Claim> takeUnsent() {
    List<Claim> taken = new ArrayList<>();
    for (Claim claim = unsent.poll(); claim != null; claim = unsent.poll()) {
      taken.add(claim);
    }
    return taken;
  }

  /** Keeps those of the claims that wait for a session of which this is true. */
  void keepUnsent(Predicate<Claim> waits) {
    unsent.removeIf(waits.negate());
  }

  /** Opens a session if somebody waits for one, as after the loss of one that was opening. */
  void openForUnsent() {
    if (!unsent.isEmpty()) {
      sessionRenewer.open();
    }
  }

  /** The session that is open; null if none is. Opens none. */
  @Nullable LiveSession current() {
    return sessionRenewer.current();
  }

  /** An attempt of the session was told to wait. */
  void waits(LiveSession session) {
    sessionRenewer.waits(session);
  }

  void whenFullTtl(LiveSession session, Runnable call) {
    sessionRenewer.whenFullTtl(session, call);
  }

  /** Looks whether the host slept: then the session's leases end earlier. */
  void noteSuspension(LiveSession session) {
    sessionRenewer.noteSuspension(session);
  }

  /** The store no longer knows the session. */
  void drop(LiveSession session) {
    String pause = session.pauseText();
    sessionRenewer.lose(
        session, "the store no longer knows its session" + (pause.isEmpty() ? "" : "; " + pause));
  }

  /** Since when the store owes an answer. */
  StoreSilence silence() {
    return sessionRenewer.silence();
  }

  /**
   * The calling thread is about to park until it is answered; see {@link
   * LockStore#helpWhileWaiting}.
   */
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
