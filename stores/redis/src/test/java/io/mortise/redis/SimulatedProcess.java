package io.mortise.redis;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** A process as the store sees it: a session, its attempts and its notifications. */
final class SimulatedProcess {
  private static final SecureRandom RANDOM = new SecureRandom();

  final SessionSpec spec;
  final StoreSession session;
  final Queue<SessionNotification> hints = new ConcurrentLinkedQueue<>();
  private final List<Long> seen = new ArrayList<>();
  private long beat;
  private long attempts;

  SimulatedProcess(LockStore store, Duration ttl) {
    this(
        store, new SessionSpec(SessionId.random(RANDOM), ttl, new ClientLabel("host", 7, "party")));
  }

  /** A process that may be another's clone. */
  SimulatedProcess(LockStore store, SessionSpec spec) {
    this.spec = spec;
    session = store.open(spec, hints::add);
    if (!(renew() instanceof Renewal.Renewed)) {
      throw new AssertionError("The session was not created.");
    }
  }

  SimulatedProcess(LockStore store) {
    this(store, Duration.ofMinutes(2));
  }

  AttemptId attempt() {
    return new AttemptId(spec.id(), ++attempts);
  }

  Renewal renew() {
    Renewal renewal = join(session.renew(beat, beat + 1, List.copyOf(seen)));
    if (renewal instanceof Renewal.Renewed renewed) {
      beat++;
      seen.clear();
      renewed.notifications().forEach(item -> seen.add(item.id()));
    }
    return renewal;
  }

  List<SessionNotification> notifications() {
    if (renew() instanceof Renewal.Renewed renewed) {
      return renewed.notifications().stream()
          .map(Renewal.NumberedNotification::notification)
          .toList();
    }
    throw new AssertionError("The session was not renewed.");
  }

  CompletableFuture<Reply> send(Request request) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    session.submit(request, reply::complete);
    return reply;
  }

  Reply ask(Request request) {
    return join(send(request));
  }

  Reply acquire(LockName name, AttemptId attempt, boolean queue) {
    return ask(acquiring(name, attempt, queue));
  }

  static Request.Acquire acquiring(LockName name, AttemptId attempt, boolean queue) {
    return new Request.Acquire(name, attempt, Mode.EXCLUSIVE, queue, HoldTerms.NONE, 1, 0, null);
  }

  Reply abandon(LockName name, AttemptId attempt) {
    return ask(new Request.Abandon(name, attempt));
  }

  static <T> T join(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }
}
