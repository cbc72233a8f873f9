package io.mortise.support.outer;

import io.mortise.OuterLocks;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Reply.EndReason;
import io.mortise.spi.Reply.RefusalReason;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.Refusals;
import io.mortise.support.liveness.ForwardingSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A session that takes the lock of another library before it asks the store for an attempt, and
 * releases it when the store has ended the attempt. So whatever the engine does with a grant, from
 * one thread to the next or by re-entry, the outer lock stays held.
 *
 * <ul>
 *   <li>An attempt that may wait and finds the outer lock taken is told that it is queued; as soon
 *       as its thread has the outer lock, the hint {@link SessionNotification.MayBeFree} makes the
 *       engine ask again, and only then is the store asked.
 *   <li>Each grant says that the lock is wanted, since nobody knows who waits for the outer lock:
 *       so the engine bounds its local hand-offs. A sticky grant does not, or it would not be kept.
 *   <li>A lost outer lock loses the lease ({@link SessionNotification.OuterLost}); the store's lock
 *       stays held until the lease is closed.
 * </ul>
 *
 * <p>Thread-safe.
 */
final class OuterLockSession extends ForwardingSession {
  private final OuterLocks outer;
  private final Duration ttl;
  private final Ticker ticker;
  private final Consumer<SessionNotification> hints;
  private final Map<AttemptId, OuterHold> holds;

  private volatile boolean closed;

  private OuterLockSession(
      StoreSession session,
      OuterLocks outer,
      Duration ttl,
      Ticker ticker,
      Consumer<SessionNotification> hints,
      Map<AttemptId, OuterHold> holds) {
    super(session);
    this.outer = outer;
    this.ttl = ttl;
    this.ticker = ticker;
    this.hints = hints;
    this.holds = holds;
  }

  /**
   * A session with locks around it.
   *
   * @param open opens the session inside
   */
  static StoreSession around(
      BiFunction<SessionSpec, Consumer<SessionNotification>, StoreSession> open,
      SessionSpec spec,
      Consumer<SessionNotification> hints,
      OuterLocks outer,
      Duration ttl,
      Ticker ticker) {
    Map<AttemptId, OuterHold> holds = new ConcurrentHashMap<>();
    StoreSession inside = open.apply(spec, hint -> hints.accept(told(holds, hint)));
    return new OuterLockSession(inside, outer, ttl, ticker, hints, holds);
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    submit(request, sink, super::submit);
  }

  @Override
  public void submitLater(Request request, Consumer<Reply> sink) {
    submit(request, sink, super::submitLater);
  }

  /**
   * Submits a request.
   *
   * @param send sends it to the store
   */
  private void submit(
      Request request, Consumer<Reply> sink, BiConsumer<Request, Consumer<Reply>> send) {
    if (request instanceof Request.Acquire acquire) {
      acquire(acquire, sink);
      return;
    }
    OuterHold hold = holds.get(request.attempt());
    if (hold == null) {
      send.accept(request, sink);
    } else if (request instanceof Request.Adjust adjust) {
      if (!hold.isGranted()) {
        // It takes the at-least time of a grant back that nobody has used; its end follows.
        hold.abandon();
      }
      send.accept(request, reply -> adjusted(hold, adjust, reply, sink));
    } else {
      // No acquire of this attempt reaches the store after its end.
      hold.abandon();
      send.accept(
          request,
          reply -> {
            if (reply instanceof Reply.Failed) {
              sink.accept(reply);
            } else {
              hold.end(() -> sink.accept(reply));
            }
          });
    }
  }

  private void acquire(Request.Acquire request, Consumer<Reply> sink) {
    if (closed) {
      sink.accept(Refusals.sessionClosed(request.attempt()));
      return;
    }
    OuterHold hold = holds.get(request.attempt());
    if (hold != null && hold.ask(request, sink)) {
      return;
    }
    Optional<Lock> lock;
    try {
      lock = lock(request);
    } catch (Throwable e) {
      sink.accept(OuterHold.failed(request, e));
      return;
    }
    if (lock.isEmpty()) {
      sink.accept(refusal(request));
      return;
    }
    OuterHold begun =
        new OuterHold(
            request,
            lock.get(),
            ttl,
            ticker,
            hints,
            this::send,
            released -> holds.remove(released.attempt(), released));
    holds.put(request.attempt(), begun);
    begun.begin(request, sink);
    if (closed) {
      begun.endNow(() -> {});
    }
  }

  private Optional<Lock> lock(Request.Acquire request) {
    String name = request.name().value();
    Mode mode = request.mode();
    if (mode.equals(Mode.EXCLUSIVE)) {
      return Optional.of(
          Objects.requireNonNull(outer.exclusive(name), "OuterLocks.exclusive returned null"));
    }
    return mode.equals(Mode.SHARED)
        ? outer.shared(name)
        : outer.permits(name, mode.weight(), mode.capacity());
  }

  private static Reply refusal(Request.Acquire request) {
    boolean shared = request.mode().equals(Mode.SHARED);
    return new Reply.Refused(
        request.attempt(),
        RefusalReason.UNSUPPORTED,
        "This client also holds the locks of another library (alsoHolding), which has no %s for '%s'. Give it by OuterLocks.%s, or take another client."
            .formatted(
                shared ? "read lock" : "permits", request.name(), shared ? "shared" : "permits"));
  }

  /** Sends an acquire whose outer lock is held. */
  private void send(OuterHold hold, Request.Acquire request, Consumer<Reply> sink) {
    super.submit(
        request,
        reply -> {
          if (reply instanceof Reply.Granted granted && hold.granted(null)) {
            sink.accept(wanted(granted));
          } else if (reply instanceof Reply.Granted) {
            giveBack(hold, request, sink);
          } else if ((reply instanceof Reply.Busy || reply instanceof Reply.Refused)
              && !isKept(hold, reply)) {
            hold.end(() -> sink.accept(reply));
          } else {
            sink.accept(reply);
          }
        });
  }

  /** The outer lock was lost before the store granted its own. */
  private void giveBack(OuterHold hold, Request.Acquire request, Consumer<Reply> sink) {
    hold.abandon();
    super.submit(
        new Request.Abandon(request.name(), request.attempt()),
        reply -> {
          if (reply instanceof Reply.Ended ended && ended.more()) {
            giveBack(hold, request, sink);
          } else if (reply instanceof Reply.Failed failed) {
            hold.end(() -> sink.accept(new Reply.Failed(request.attempt(), true, failed.cause())));
          } else {
            hold.end(() -> sink.accept(Refusals.ended(request.attempt())));
          }
        });
  }

  /**
   * Whether the attempt keeps its place or hold in spite of the answer: an operator keeps it shut
   * until its owner gives it up, or the store has no room and has changed nothing.
   */
  private static boolean isKept(OuterHold hold, Reply reply) {
    return reply instanceof Reply.Refused refused
        && (refused.why() == RefusalReason.STORE_FULL
            || refused.why() == RefusalReason.TOKENS_USED_UP
            || (refused.why() == RefusalReason.EVICTED && hold.isGranted()));
  }

  private void adjusted(OuterHold hold, Request.Adjust request, Reply reply, Consumer<Reply> sink) {
    if (reply instanceof Reply.Granted granted) {
      hold.granted(request.terms().atLeast());
      sink.accept(wanted(granted));
    } else {
      sink.accept(reply);
    }
  }

  private static Reply wanted(Reply.Granted granted) {
    return new Reply.Granted(
        granted.attempt(),
        granted.token(),
        granted.tokens(),
        granted.wanted() || !granted.attempt().isSticky(),
        granted.atMostLeft(),
        granted.votes());
  }

  /** A grant is confirmed by an acquire, whose answer tells whether the outer lock is held. */
  private static SessionNotification told(
      Map<AttemptId, OuterHold> holds, SessionNotification notification) {
    if (notification instanceof SessionNotification.HoldGranted granted) {
      return granted.unconfirmed();
    }
    OuterHold hold = holds.get(notification.attempt());
    if (hold != null
        && notification instanceof SessionNotification.HoldEnded ended
        && !(ended.how() == EndReason.EVICTED && hold.isGranted())) {
      // The engine does not abandon each attempt that the store has ended.
      hold.end(() -> {});
    }
    return notification;
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return super.renew(previous, next, seen).thenApply(this::renewed);
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    return super.renew(previous, next, seen, ttl).thenApply(this::renewed);
  }

  private Renewal renewed(Renewal renewal) {
    if (!(renewal instanceof Renewal.Renewed renewed) || renewed.notifications().isEmpty()) {
      return renewal;
    }
    return new Renewal.Renewed(
        renewed.storeMicros(),
        renewed.notifications().stream()
            .map(
                item ->
                    new Renewal.NumberedNotification(item.id(), told(holds, item.notification())))
            .toList(),
        renewed.more(),
        renewed.incarnation());
  }

  /** Ends the session in the store, then releases all outer locks. */
  @Override
  public CompletionStage<Void> close() {
    closed = true;
    CompletionStage<Void> ended = super.close();
    return ended
        .handle((done, failure) -> releasedAll())
        .thenCompose(Function.identity())
        .thenCompose(released -> ended);
  }

  private CompletionStage<Void> releasedAll() {
    return CompletableFuture.allOf(
        List.copyOf(holds.values()).stream()
            .map(OuterLockSession::released)
            .toArray(CompletableFuture<?>[]::new));
  }

  private static CompletableFuture<Void> released(OuterHold hold) {
    CompletableFuture<Void> released = new CompletableFuture<>();
    hold.endNow(() -> released.complete(null));
    return released;
  }
}
