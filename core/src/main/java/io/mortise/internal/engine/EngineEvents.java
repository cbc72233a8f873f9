package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.LockTimeoutException;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.event.LeaseEnd;
import io.mortise.event.LockListener;
import io.mortise.event.LockListener.AcquireOutcome;
import io.mortise.internal.engine.state.Claim;
import io.mortise.internal.engine.state.ClaimEffect;
import io.mortise.internal.engine.state.EngineSettings;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.Stripe;
import io.mortise.internal.engine.state.Waiter;
import io.mortise.internal.event.AcquireTrace;
import io.mortise.internal.event.EventPublisher;
import io.mortise.internal.event.LeaseTrace;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.runtime.FailureText;
import io.mortise.internal.session.SessionReporter;
import io.mortise.internal.session.StoreOutage;
import io.mortise.spi.Mode;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The one place to which the engines of a client report their events, for the log, listeners and
 * the flight recorder. Thread-safe.
 */
public final class EngineEvents {
  /** The log lines about leases carry the engine's name. */
  private static final Logger log = LoggerFactory.getLogger("io.mortise.internal.engine.Engine");

  private final EngineEnv env;
  private final EventPublisher publisher;
  private final SessionReporter sessions;

  /**
   * Events of the engines of one client.
   *
   * @param parts the parts of its store
   */
  public EngineEvents(EngineEnv env, int parts, List<LockListener> listeners) {
    this.env = env;
    this.publisher = EventPublisher.to(listeners, env.callbacks());
    this.sessions = new SessionReporter(env, parts, publisher);
  }

  /** The receiver of session events of these engines. */
  SessionReporter sessions() {
    return sessions;
  }

  // ---- Acquires ----

  /** Reports the begin of an acquire, on its caller's thread, if there is a listener. */
  void acquireBegins(EngineSettings settings, Waiter waiter) {
    if (publisher.isActive()) {
      waiter.traced(
          publisher.begin(
              waiter.name().value(),
              access(waiter.mode()),
              waiter.options().terms().label(),
              settings.storeName(),
              env::now));
    }
  }

  private static Access access(Mode mode) {
    if (mode.capacity() != Mode.SHARERS) {
      return Access.PERMITS;
    }
    return mode.isExclusive() ? Access.EXCLUSIVE : Access.SHARED;
  }

  /** Called under the stripe's lock: the claim's attempt waits in the store's queue. */
  void queued(Stripe stripe, Claim claim, int ahead) {
    Waiter head = claim.head();
    AcquireTrace trace = head == null ? null : head.trace();
    if (trace != null && trace.isNewPlace(ahead)) {
      stripe.emit(new ClaimEffect.NotifyListeners(() -> trace.queued(ahead)));
    }
  }

  /** Reports the end of a wait by its state, on this thread. */
  public void acquireEnded(Waiter waiter) {
    AcquireTrace trace = waiter.trace();
    if (trace == null) {
      return;
    }
    switch (waiter.state()) {
      case GRANTED -> granted(waiter);
      case BUSY -> ended(trace, AcquireOutcome.BUSY, "");
      case FAILED ->
          ended(
              trace,
              failed(waiter.failure()),
              waiter.failure() == null ? "" : FailureText.said(waiter.failure()));
      default -> {
        Throwable storeFailure = waiter.storeFailure();
        if (storeFailure == null) {
          ended(trace, AcquireOutcome.TIMEOUT, "");
        } else {
          ended(
              trace,
              StoreOutage.unfit(storeFailure) == null
                  ? AcquireOutcome.UNAVAILABLE
                  : AcquireOutcome.REFUSED,
              FailureText.said(storeFailure));
        }
      }
    }
  }

  private static AcquireOutcome failed(@Nullable RuntimeException failure) {
    if (failure instanceof LockTimeoutException) {
      return AcquireOutcome.QUEUE_FULL;
    }
    return failure instanceof StoreUnavailableException
        ? AcquireOutcome.UNAVAILABLE
        : AcquireOutcome.REFUSED;
  }

  private void granted(Waiter waiter) {
    LeaseImpl lease = waiter.lease();
    LeaseTrace trace = lease.trace();
    if (trace != null) {
      trace.granted(
          lease.hasToken() ? OptionalLong.of(lease.rawToken()) : OptionalLong.empty(), env.now());
    }
  }

  /** Reports an end of an acquire that differs from its waiter's state, on this thread. */
  public void acquireEnded(Waiter waiter, AcquireOutcome outcome, String reason) {
    AcquireTrace trace = waiter.trace();
    if (trace != null) {
      ended(trace, outcome, reason);
    }
  }

  private void ended(AcquireTrace trace, AcquireOutcome outcome, String reason) {
    trace.ended(outcome, OptionalLong.empty(), reason, env.now());
  }

  // ---- Leases ----

  /**
   * Called under the stripe's lock: a lease is lost.
   *
   * @param so the consequence for work done under it
   * @param level of the line in the log; null for none
   */
  void leaseLost(
      Stripe stripe, LeaseImpl lease, LeaseEnd end, String why, String so, @Nullable Level level) {
    LeaseTrace trace = lease.trace();
    if (trace != null) {
      trace.lost(end, why, env.now());
    }
    stripe.emit(
        new ClaimEffect.NotifyListeners(
            () -> {
              if (level != null) {
                logLoss(lease.lockName(), lease.tokenText(), lease.storeName(), why, so, level);
              }
              if (trace != null) {
                trace.tellLoss();
              }
            }));
  }

  void logLoss(LockName name, String token, String storeName, String why, String so, Level level) {
    log.atLevel(level)
        .log(
            "Lost lease on lock '{}' (holder={}, token={}, store={}): {}. {}",
            name,
            env.client(),
            token,
            storeName,
            why,
            so);
  }
}
