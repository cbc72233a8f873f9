package io.mortise.internal.engine;

import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A share of the lock names under one short lock: nobody waits, calls out or does I/O under it.
 * What is to be sent is put into the outbox under the lock and sent after it, by one thread at a
 * time, so that the requests of a name leave in the order in which they were decided.
 */
final class Stripe {
  private static final Logger log = LoggerFactory.getLogger(Stripe.class);

  private final ReentrantLock guard = new ReentrantLock();

  final ClaimTable claims = new ClaimTable();
  final Map<AttemptId, PendingRelease> endings = new HashMap<>();
  private final ArrayDeque<OutboundRequest> outbox = new ArrayDeque<>();
  private boolean draining;

  /** To be called after the lock is let go, in a chain; most often none or one. */
  private @Nullable DeferredCall deferredCalls;

  private record OutboundRequest(
      LiveSession session, Request request, Consumer<Reply> sink, boolean later) {}

  private record DeferredCall(Runnable run, @Nullable DeferredCall next) {}

  void lock() {
    guard.lock();
  }

  /** Lets go of the lock, then sends and calls what was decided under it. */
  void unlock() {
    DeferredCall calls = deferredCalls;
    deferredCalls = null;
    boolean drain = !outbox.isEmpty() && !draining;
    draining |= drain;
    guard.unlock();
    for (DeferredCall call = calls; call != null; call = call.next()) {
      try {
        call.run().run();
      } catch (RuntimeException | Error e) {
        // No thread for a callback, perhaps. Who else is to be woken or asked must not suffer.
        log.error("What follows from a change of a lock could not be done.", e);
      }
    }
    if (drain) {
      drain();
    }
  }

  void afterUnlock(Runnable call) {
    deferredCalls = new DeferredCall(call, deferredCalls);
  }

  void send(LiveSession session, Request request, Consumer<Reply> sink) {
    outbox.add(new OutboundRequest(session, request, sink, false));
  }

  /** As {@link #send}, for what nobody waits for: it may travel with what is sent next. */
  void sendLater(LiveSession session, Request request, Consumer<Reply> sink) {
    outbox.add(new OutboundRequest(session, request, sink, true));
  }

  private void drain() {
    while (true) {
      OutboundRequest outboundRequest;
      guard.lock();
      try {
        outboundRequest = outbox.poll();
        if (outboundRequest == null) {
          draining = false;
          return;
        }
      } finally {
        guard.unlock();
      }
      Request request = outboundRequest.request();
      try {
        if (outboundRequest.later()) {
          outboundRequest.session().store.submitLater(request, outboundRequest.sink());
        } else {
          outboundRequest.session().store.submit(request, outboundRequest.sink());
        }
      } catch (RuntimeException | Error e) {
        // A store must not throw; one that does must not stop the outbox either.
        outboundRequest.sink().accept(new Reply.Failed(request.attempt(), true, e));
      }
    }
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
      if (claim.shared) {
        return claim;
      }
    }
    return null;
  }

  void add(Claim claim) {
    claims.add(claim);
  }

  void remove(Claim claim) {
    claims.remove(claim);
  }
}
