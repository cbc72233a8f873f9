package io.mortise.internal.engine;

import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.StripeTable;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.internal.runtime.FailureText;
import io.mortise.internal.session.LiveSession;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Looks for call-backs of idle grants, as the store does not push them, or a push may be lost: see
 * {@link StickyProtocol}. One look serves all idle grants of a session.
 *
 * <p><b>Start and end.</b> A grant that becomes idle schedules a look, unless one is scheduled or
 * in flight. The look is made even if that grant is in use again by then: a lock that is taken all
 * the time would never be looked for. After it another is scheduled if any grant is idle.
 *
 * <p><b>A failed look</b> counts as a broken connection, once. Further ones come each second, and
 * keep idle grants from being taken.
 */
final class CallBackPoll {
  private static final long BACKSTOP_NANOS = 1_000_000_000;

  private final EngineSettings settings;
  private final EngineSessions sessions;
  private final StripeTable stripes;

  /** Whether a look is scheduled or in flight. */
  private final AtomicBoolean begun = new AtomicBoolean();

  /** Whether the last look failed. */
  private volatile boolean failing;

  CallBackPoll(EngineSettings settings, EngineSessions sessions, StripeTable stripes) {
    this.settings = settings;
    this.sessions = sessions;
    this.stripes = stripes;
  }

  /** Handles that a grant of the session is idle from now on. The stripe's lock may be held. */
  void begin(LiveSession session) {
    if (!begun.get() && begun.compareAndSet(false, true)) {
      long delay = session.store().callBackDelay().toNanos();
      settings
          .env()
          .timers()
          .schedule(delay == 0 || failing ? BACKSTOP_NANOS : delay, () -> look(session));
    }
  }

  private void look(LiveSession session) {
    if (session.hasEnded()) {
      looked(session, null);
      return;
    }
    var unused =
        CompletionStages.start(() -> session.store().lookForCallBacks())
            .whenComplete((done, failure) -> looked(session, failure));
  }

  private void looked(LiveSession session, @Nullable Throwable failure) {
    if (failure == null) {
      failing = false;
    } else if (failing) {
      session.missesCalls();
    } else {
      failing = true;
      sessions.connectionLost(
          session,
          FailureText.withoutStore(
              settings.storeName(), FailureText.said(CompletionStages.cause(failure))));
    }
    // Cleared before the check below, so that a grant that becomes idle meanwhile is seen by one.
    begun.set(false);
    LiveSession next = session.hasEnded() ? sessions.current() : session;
    if (next != null && stripes.withOldestIdle() != null) {
      begin(next);
    }
  }
}
