package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.internal.runtime.EngineEnv;
import io.mortise.internal.session.LiveSession;
import io.mortise.internal.storekit.OutboxLock;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A share of the lock names under one lock; what is to be sent to the store leaves in the order in
 * which it was decided.
 */
final class Stripe extends OutboxLock {
  private static final Logger log = LoggerFactory.getLogger(Stripe.class);

  final ClaimTable claims = new ClaimTable();
  final IdleClaims idleClaims = new IdleClaims();
  final Map<AttemptId, PendingRelease> endings = new HashMap<>();

  /** Null until a lock was given back that others wanted, in a store without a queue. */
  private @Nullable ReacquirePauses reacquirePauses;

  private record OutboundRequest(
      LiveSession session, Request request, Consumer<Reply> sink, boolean later)
      implements Runnable {
    @Override
    public void run() {
      try {
        if (later) {
          session.store().submitLater(request, sink);
        } else {
          session.store().submit(request, sink);
        }
      } catch (RuntimeException | Error e) {
        // A store must not throw; one that does still owes an answer.
        sink.accept(new Reply.Failed(request.attempt(), true, e));
      }
    }
  }

  @Override
  public void unlock() {
    try {
      super.unlock();
    } catch (RuntimeException | Error e) {
      // No thread for a callback, perhaps. The caller's own step is done, and must not suffer.
      log.error("What follows from a change of a lock could not be done.", e);
    }
  }

  void send(LiveSession session, Request request, Consumer<Reply> sink) {
    send(new OutboundRequest(session, request, sink, false));
  }

  /** As {@link #send}, for what nobody waits for: it may travel with what is sent next. */
  void sendLater(LiveSession session, Request request, Consumer<Reply> sink) {
    send(new OutboundRequest(session, request, sink, true));
  }

  @Nullable Claim find(LockName name, AttemptId attempt) {
    for (Claim claim = claims.first(name); claim != null; claim = claims.after(claim)) {
      if (claim.isAttempt(attempt)) {
        return claim;
      }
    }
    return null;
  }

  /** The claim of the name that others of this process may join. */
  @Nullable Claim common(LockName name) {
    for (Claim claim = claims.first(name); claim != null; claim = claims.after(claim)) {
      if (claim.joinable) {
        return claim;
      }
    }
    return null;
  }

  /**
   * A hold was given back, in a store without a queue.
   *
   * @param wantedSince when it became known that others want it; null if that is not known
   */
  void gaveBack(LockName name, @Nullable Long wantedSince, EngineEnv env) {
    if (reacquirePauses == null && wantedSince != null) {
      reacquirePauses = new ReacquirePauses();
    }
    if (reacquirePauses != null) {
      reacquirePauses.gaveBack(name, wantedSince, env);
    }
  }

  /** How long a lock is to be left to others; not positive if it may be asked for now. */
  long pauseLeft(LockName name, long now) {
    return reacquirePauses == null ? 0 : reacquirePauses.left(name, now);
  }

  /** Another process holds the lock. */
  void endPause(LockName name) {
    if (reacquirePauses != null) {
      reacquirePauses.end(name);
    }
  }

  void add(Claim claim) {
    claims.add(claim);
  }

  void remove(Claim claim) {
    claims.remove(claim);
  }
}
