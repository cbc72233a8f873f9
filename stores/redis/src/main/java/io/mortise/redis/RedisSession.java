package io.mortise.redis;

import io.mortise.StoreUnavailableException;
import io.mortise.redis.codec.LockCodec;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A session: one key with an expiry, a sorted set of notifications, an inbox channel. */
final class RedisSession implements StoreSession {
  private static final Renewal.Lost FORGOTTEN =
      new Renewal.Lost(
          "the server was restarted, or another one took over, and has forgotten the session (look"
              + " at its setting appendonly)");

  private static final Logger log = LoggerFactory.getLogger(RedisSession.class);

  /** The most notifications that one renewal returns. */
  private static final int MOST_NOTIFICATIONS = 64;

  private final RedisLockStore store;
  private final Ticker ticker;
  private final SessionSpec spec;
  private final Consumer<SessionNotification> hints;
  private final AtomicBoolean listening = new AtomicBoolean();
  private volatile @Nullable Runnable renewNow;
  private volatile @Nullable Consumer<String> lost;
  private volatile ConfirmedBeat confirmed = new ConfirmedBeat(0, 0, "");
  private volatile boolean closed;

  /** The last beat that the server confirmed, the one before, and the server's incarnation. */
  private record ConfirmedBeat(long beat, long before, String incarnation) {}

  RedisSession(
      RedisLockStore store, Ticker ticker, SessionSpec spec, Consumer<SessionNotification> hints) {
    this.store = store;
    this.ticker = ticker;
    this.spec = spec;
    this.hints = hints;
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = refusal(request);
    if (refusal == null) {
      store.submit(request, sink);
    } else {
      sink.accept(refusal);
    }
  }

  @Override
  public void submitLater(Request request, Consumer<Reply> sink) {
    Reply refusal = refusal(request);
    if (refusal == null) {
      store.submitLater(request, sink);
    } else {
      sink.accept(refusal);
    }
  }

  private @Nullable Reply refusal(Request request) {
    Reply refusal = closed ? gone(request) : store.profile().refusal(request).orElse(null);
    long floor = floor(request);
    if (refusal == null && floor > LockCodec.MAX_FLOOR) {
      refusal =
          new Reply.Refused(
              request.attempt(),
              Reply.RefusalReason.UNSUPPORTED,
              "Redis cannot count from token " + floor + " on: it is above 2^53.");
    }
    return refusal;
  }

  private static long floor(Request request) {
    return request instanceof Request.Acquire acquire
        ? acquire.tokenFloor()
        : request instanceof Request.Adjust adjust ? adjust.tokenFloor() : 0;
  }

  private Reply gone(Request request) {
    return Refusals.sessionClosed(request.attempt());
  }

  private void pushed(String text) {
    try {
      hints.accept(notification(text));
    } catch (RuntimeException e) {
      // A push is only a hint, and any client with the right to publish can send anything.
      log.debug("Passed over a push that cannot be read (store={})", store, e);
    }
  }

  private SessionNotification notification(String text) {
    SessionNotification sessionNotification = LockCodec.notification(text);
    return store.isReplicated()
            && sessionNotification instanceof SessionNotification.HoldGranted granted
        // Reported as unconfirmed, so that the confirming answer can wait for the replicas.
        ? granted.unconfirmed()
        : sessionNotification;
  }

  @Override
  public void onSuspectedRestart(Runnable renewNow) {
    this.renewNow = renewNow;
    store.reconnects().add(renewNow);
  }

  @Override
  public void onConnectionLost(Consumer<String> lost) {
    this.lost = lost;
    store.reconnects().addLost(lost);
  }

  @Override
  public boolean receivesPushes() {
    return !store.isDenied(spec.id());
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return renew(previous, next, seen, spec.ttl());
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen, Duration ttl) {
    if (listening.compareAndSet(false, true)) {
      store.subscribe(spec.id(), this::pushed);
    }
    List<String> args = new ArrayList<>();
    args.add(LockCodec.digits(previous, 16));
    args.add(LockCodec.digits(next, 16));
    args.add(LockCodec.digits(ttl.toMillis(), 16));
    args.add(spec.client().encoded());
    long sent = ticker.nanos();
    args.add(LockCodec.digits(store.clock().deadline(sent), 16));
    ConfirmedBeat last = confirmed;
    args.add(LockCodec.digits(last.beat() == previous ? last.before() : 0, 16));
    args.add(last.incarnation());
    args.add(store.isStrict() ? store.keys().beat(spec.id()) : "");
    args.add(listens() ? "1" : "0");
    seen.forEach(id -> args.add(Long.toString(id)));
    return store
        .call(
            Script.RENEW,
            List.of(store.keys().session(spec.id()), store.keys().notifications(spec.id())),
            args)
        .thenApply(answer -> outcome(answer instanceof List<?> list ? list : List.of(), sent, next))
        .exceptionally(failure -> new Renewal.Unknown(RedisReplies.unwrap(failure)));
  }

  /** Whether a push would reach this process now and the server can see the subscription. */
  private boolean listens() {
    return store.profile().can(Capability.SKIPS_DISCONNECTED) && store.isSubscribed(spec.id());
  }

  private Renewal outcome(List<?> answer, long sent, long beat) {
    String first = String.valueOf(answer.get(0));
    if (first.equals("E")) {
      return hasForgotten(answer) ? FORGOTTEN : Refusals.SESSION_EXPIRED;
    } else if (first.equals("O")) {
      return Refusals.RENEWED_BY_ANOTHER;
    }
    boolean late = first.equals("L");
    long storeMicros = Long.parseLong(late ? String.valueOf(answer.get(1)) : first);
    store.clock().learn(sent, ticker.nanos(), storeMicros);
    if (late) {
      return new Renewal.Unknown(
          new StoreUnavailableException(
              "The request for session '%s' reached Redis too late to be executed (store=%s)."
                  .formatted(spec.id(), store)));
    }
    String incarnation = String.valueOf(answer.get(1));
    confirm(beat, incarnation);
    List<Renewal.NumberedNotification> numberedNotifications =
        items(answer.subList(2, answer.size()));
    boolean more = numberedNotifications.size() > MOST_NOTIFICATIONS;
    return new Renewal.Renewed(
        storeMicros,
        more ? numberedNotifications.subList(0, MOST_NOTIFICATIONS) : numberedNotifications,
        more,
        incarnation);
  }

  /**
   * Whether the server that lacks this session is another incarnation than the one that confirmed
   * it.
   */
  private boolean hasForgotten(List<?> answer) {
    String now = answer.size() > 1 ? String.valueOf(answer.get(1)) : "";
    String before = confirmed.incarnation();
    return !now.isEmpty() && !before.isEmpty() && !now.equals(before);
  }

  private void confirm(long beat, String incarnation) {
    ConfirmedBeat last = confirmed;
    if (beat > last.beat()) {
      confirmed = new ConfirmedBeat(beat, last.beat(), incarnation);
    }
  }

  private List<Renewal.NumberedNotification> items(List<?> told) {
    List<Renewal.NumberedNotification> numberedNotifications = new ArrayList<>();
    for (Object one : told) {
      String text = String.valueOf(one);
      try {
        numberedNotifications.add(
            new Renewal.NumberedNotification(
                LockCodec.number(text, 0, 17), notification(text.substring(17))));
      } catch (RuntimeException e) {
        // A foreign value there must not end a session.
        log.debug("Passed over a notification that cannot be read (store={})", store, e);
      }
    }
    return numberedNotifications;
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    Runnable told = renewNow;
    if (told != null) {
      store.reconnects().remove(told);
    }
    Consumer<String> listener = lost;
    if (listener != null) {
      store.reconnects().removeLost(listener);
    }
    if (listening.compareAndSet(true, false)) {
      store.unsubscribe(spec.id());
    }
    return store
        .call(
            Script.CLOSE,
            List.of(store.keys().session(spec.id()), store.keys().notifications(spec.id())),
            List.of())
        .thenCompose(closed -> store.isStrict() ? closeBeat() : done())
        .handle((answer, failure) -> (Void) null)
        .toCompletableFuture()
        .thenCompose(CompletableFuture::completedFuture);
  }

  private CompletionStage<@Nullable Object> closeBeat() {
    String beat = store.keys().beat(spec.id());
    return store.call(Script.CLOSE, List.of(beat, beat), List.of());
  }

  private static CompletionStage<@Nullable Object> done() {
    return CompletableFuture.completedFuture(null);
  }
}
