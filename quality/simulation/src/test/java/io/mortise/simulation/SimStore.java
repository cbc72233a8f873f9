package io.mortise.simulation;

import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A process's connection to the store: lanes for requests, renewals and pushes, each with its own
 * delays and faults.
 */
abstract class SimStore implements LockStore {
  final SimConnection requests;
  final SimConnection renewals;
  final SimConnection pushes;
  final SimProcess simProcess;
  final VirtualTimeScheduler virtualTimeScheduler;
  private final StoreProfile profile;
  private final Map<SessionId, Consumer<SessionNotification>> listeners = new HashMap<>();
  private SessionId latest;

  /** Renewals sent since the last one answered in time, in the session closed last. */
  private int triesAtClose = Integer.MAX_VALUE;

  SimStore(
      VirtualTimeScheduler virtualTimeScheduler,
      SimServer server,
      SimProcess simProcess,
      SimTransport wire,
      StoreProfile profile) {
    this.virtualTimeScheduler = virtualTimeScheduler;
    this.simProcess = simProcess;
    this.profile = profile;
    this.requests = new SimConnection("requests", virtualTimeScheduler, server, simProcess, wire);
    this.renewals = new SimConnection("renewals", virtualTimeScheduler, server, simProcess, wire);
    this.pushes = new SimConnection("pushes", virtualTimeScheduler, server, simProcess, wire);
  }

  /** A session of the store itself; {@link #deliver} takes its notifications. */
  abstract StoreSession connect(SessionSpec spec);

  /** The session that this process opened last. */
  final SessionId latestSession() {
    return latest;
  }

  /** The sessions that this process opened. */
  final Set<SessionId> sessions() {
    return listeners.keySet();
  }

  @Override
  public final StoreProfile profile() {
    return profile;
  }

  @Override
  public final StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    virtualTimeScheduler.trace(() -> simProcess + " opens session " + spec.id());
    latest = spec.id();
    listeners.put(spec.id(), hints);
    return new SimSession(spec, connect(spec));
  }

  /** Whether the session closed last had fewer than three unsuccessful renewals. */
  final boolean gaveUpEarly() {
    return triesAtClose < 3;
  }

  final boolean canPush() {
    return profile.can(Capability.PUSH) && simProcess.alive;
  }

  final void deliver(SessionId session, SessionNotification sessionNotification) {
    Consumer<SessionNotification> listener = listeners.get(session);
    if (listener != null) {
      virtualTimeScheduler.trace(() -> simProcess + " is pushed " + sessionNotification);
      simProcess.heard(sessionNotification);
      listener.accept(sessionNotification);
    }
  }

  @Override
  public void close() {}

  /** Passes notifications to the process and to observers. */
  private final class SimSession implements StoreSession {
    private final SessionSpec spec;
    private final StoreSession session;
    private int tries = Integer.MAX_VALUE;

    SimSession(SessionSpec spec, StoreSession session) {
      this.spec = spec;
      this.session = session;
    }

    @Override
    public SessionId id() {
      return spec.id();
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      Reply refusal = profile.refusal(request).orElse(null);
      if (refusal != null) {
        sink.accept(refusal);
        return;
      }
      session.submit(
          request,
          reply -> {
            if (reply instanceof Reply.Failed) {
              virtualTimeScheduler.trace(
                  () -> simProcess + " hears nothing about " + SimServer.text(request));
            } else {
              simProcess.heard(request.name(), reply);
            }
            sink.accept(reply);
          });
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
      return renew(previous, next, seen, spec.ttl());
    }

    @Override
    public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
      long sentAt = virtualTimeScheduler.now();
      tries = tries == Integer.MAX_VALUE ? tries : tries + 1;
      return session
          .renew(previous, next, seen, ttl)
          .thenApply(
              renewal -> {
                if (!(renewal instanceof Renewal.Unknown)) {
                  heard(renewal, sentAt);
                }
                return renewal;
              });
    }

    private void heard(Renewal renewal, long sentAt) {
      simProcess.heard(renewal);
      if (!tellsWhatHasGoneFirst(renewal)) {
        boolean soon = virtualTimeScheduler.now() - sentAt < simProcess.ttl / 6;
        tries = soon ? 0 : Integer.MAX_VALUE;
      }
    }

    /** Such an answer extends no lease yet, so the tries before it count as unsuccessful. */
    private static boolean tellsWhatHasGoneFirst(Renewal renewal) {
      return renewal instanceof Renewal.Renewed renewed
          && renewed.more()
          && !renewed.notifications().isEmpty()
          && renewed.notifications().get(renewed.notifications().size() - 1).notification()
              instanceof SessionNotification.HoldEnded;
    }

    @Override
    public Duration callBackDelay() {
      return session.callBackDelay();
    }

    @Override
    public CompletionStage<Void> lookForCallBacks() {
      return session.lookForCallBacks();
    }

    @Override
    public CompletionStage<Void> close() {
      virtualTimeScheduler.trace(() -> simProcess + " closes session " + spec.id());
      listeners.remove(spec.id());
      triesAtClose = tries;
      return session.close();
    }
  }
}
