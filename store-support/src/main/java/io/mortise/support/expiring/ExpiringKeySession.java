package io.mortise.support.expiring;

import io.mortise.LockName;
import io.mortise.internal.runtime.CompletionStages;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.support.expiring.ExpiringKeys.AttemptKey;
import io.mortise.support.expiring.ExpiringKeys.KeyOwner;
import io.mortise.support.expiring.ExpiringKeys.TakenKey;
import io.mortise.support.internal.session.Refusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A session that the server does not know. Each lock there has its own expiry, of the session's
 * TTL; a renewal restarts all of them.
 *
 * <p><b>Why one deadline is valid for all locks.</b> The client trusts a lease until a TTL after it
 * <em>sent</em> the last renewal. So each lock must live in the server for at least a TTL from that
 * moment.
 *
 * <ul>
 *   <li>A request that was sent later grants a lock that lives long enough: its TTL begins when the
 *       server executes the request. If the server's clock may be behind, the lock lives for a TTL
 *       from the time when the renewal {@linkplain ExpiringKeys#beforeRenewal() read that clock}: a
 *       clock never goes back.
 *   <li>The renewal itself extends every other lock. A request is listed here before it is sent,
 *       and stays listed until its refusal or abandon. The renewal extends all locks that are
 *       listed when it has the server's clock, granted or not yet answered.
 *   <li>A lock that this session has already, because an answer was lost, may be old. It is
 *       extended before it is granted.
 *   <li>A renewal counts only if the server has answered every part of it. The session reports a
 *       granted lock that it could not extend as gone, before it gets more time.
 * </ul>
 *
 * <p>A request that arrives after its attempt was abandoned takes the lock without a holder. It is
 * not listed, hence not extended, and free after a TTL.
 */
public class ExpiringKeySession implements StoreSession {
  private static final Duration SOON = Duration.ofMillis(1);

  private final ExpiringKeys keys;
  private final Ticker ticker;
  private final SessionSpec spec;
  private final Map<AttemptId, HeldKey> holds = new ConcurrentHashMap<>();
  private final Map<Long, SessionNotification.HoldEnded> holdEnded = new ConcurrentSkipListMap<>();
  private final AtomicLong notificationIds = new AtomicLong();

  private volatile boolean closed;

  /** Guards the fields below. */
  private final ReentrantLock beats = new ReentrantLock();

  private long beat;
  private long validUntil;
  private boolean created;

  /** A key that this session may have in the server. */
  private static final class HeldKey {
    final AttemptKey key;
    volatile boolean granted;

    HeldKey(AttemptKey key) {
      this.key = key;
    }
  }

  /** A key of a renewal, and whether it was granted when the renewal was sent. */
  private record ListedKey(AttemptKey key, boolean granted) {}

  /** A session over these keys; sends nothing. */
  public ExpiringKeySession(ExpiringKeys keys, Ticker ticker, SessionSpec spec) {
    this.keys = keys;
    this.ticker = ticker;
    this.spec = spec;
  }

  /** Called when the attempt was refused, because another has the lock. It may retry, or never. */
  protected void refused(AttemptId attempt, LockName name) {}

  /** Called when the attempt was granted or abandoned. */
  protected void over(AttemptId attempt) {}

  @Override
  public final SessionId id() {
    return spec.id();
  }

  @Override
  public final void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = keys.refusal(request).orElse(null);
    if (refusal == null && !(request instanceof Request.Abandon)) {
      refusal = gone(request);
    }
    if (refusal != null) {
      sink.accept(refusal);
      return;
    }
    CompletableFuture<Reply> reply;
    if (request instanceof Request.Acquire) {
      reply = acquire(request);
    } else if (request instanceof Request.Abandon) {
      reply = abandon(request);
    } else {
      reply = adjust(request);
    }
    var unused = reply.exceptionally(failure -> failed(request, failure)).thenAccept(sink);
  }

  private Reply.@Nullable Refused gone(Request request) {
    beats.lock();
    try {
      if (!closed && created && validUntil - ticker.nanos() > 0) {
        return null;
      }
    } finally {
      beats.unlock();
    }
    return Refusals.sessionGone(request.attempt());
  }

  private static AttemptKey key(Request request) {
    return new AttemptKey(request.name(), request.attempt());
  }

  private CompletableFuture<Reply> acquire(Request request) {
    AttemptId attempt = request.attempt();
    // Listed before it is sent: see above.
    holds.computeIfAbsent(attempt, absent -> new HeldKey(key(request)));
    return keys.take(request.name(), attempt, spec)
        .thenCompose(
            take -> {
              KeyOwner owner = take.owner();
              if (take.taken()) {
                return CompletableFuture.completedFuture(granted(attempt));
              } else if (owner != null && owner.attempt().equals(attempt)) {
                return extend(request)
                    .thenApply(
                        extended -> extended ? granted(attempt) : busy(request, TakenKey.GONE));
              }
              return CompletableFuture.completedFuture(busy(request, take));
            });
  }

  private CompletableFuture<Boolean> extend(Request request) {
    return keys.extend(List.of(key(request)), spec.ttl()).thenApply(extended -> extended.get(0));
  }

  private Reply granted(AttemptId attempt) {
    HeldKey hold = holds.get(attempt);
    if (hold != null) {
      hold.granted = true;
    }
    over(attempt);
    return new Reply.Granted(attempt, 0, 1, true, null, null);
  }

  private Reply busy(Request request, TakenKey take) {
    forgetUnlessGranted(request.attempt());
    KeyOwner owner = take.owner();
    if (owner == null) {
      return new Reply.Busy(request.attempt(), null, SOON);
    }
    refused(request.attempt(), request.name());
    return new Reply.Busy(
        request.attempt(), new Reply.Holder(owner.attempt(), 0, owner.left()), owner.freeAfter());
  }

  private void forgetUnlessGranted(AttemptId attempt) {
    HeldKey hold = holds.get(attempt);
    if (hold != null && !hold.granted) {
      holds.remove(attempt);
    }
  }

  private Reply failed(Request request, Throwable failure) {
    Reply reply = keys.failed(request, CompletionStages.cause(failure));
    boolean mayHaveRun = reply instanceof Reply.Failed unanswered && unanswered.mayHaveRun();
    if (request instanceof Request.Acquire && !mayHaveRun) {
      // An earlier try of it may have been executed even so, but then it will be polled.
      forgetUnlessGranted(request.attempt());
    }
    return reply;
  }

  private CompletableFuture<Reply> abandon(Request request) {
    AttemptId attempt = request.attempt();
    holds.remove(attempt);
    holdEnded.values().removeIf(notifications -> notifications.attempt().equals(attempt));
    over(attempt);
    return keys.release(request.name(), attempt)
        .thenApply(
            released ->
                released
                    ? new Reply.Ended(
                        attempt, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false)
                    : new Reply.Ended(
                        attempt, Reply.AttemptState.ABSENT, Reply.EndReason.UNKNOWN, false));
  }

  /** Only the hold itself can be adjusted, and it must still be there. */
  private CompletableFuture<Reply> adjust(Request request) {
    return extend(request)
        .thenApply(
            extended ->
                extended
                    ? new Reply.Granted(request.attempt(), 0, 1, true, null, null)
                    : Refusals.notHeld(request.attempt(), request.name()));
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    long sent = ticker.nanos();
    Renewal.Lost lost = refusal(previous, next, sent);
    if (lost != null) {
      return CompletableFuture.completedFuture(lost);
    }
    seen.forEach(holdEnded::remove);
    return keys.beforeRenewal()
        .thenCompose(ready -> extendAll(next, sent))
        .exceptionally(failure -> new Renewal.Unknown(CompletionStages.cause(failure)));
  }

  private CompletableFuture<Renewal> extendAll(long next, long sent) {
    List<ListedKey> listed =
        holds.values().stream().map(hold -> new ListedKey(hold.key, hold.granted)).toList();
    return keys.renew(listed.stream().map(ListedKey::key).toList(), spec.ttl())
        .thenApply(
            renewal -> {
              for (int i = 0; i < listed.size(); i++) {
                if (listed.get(i).granted() && !renewal.extended().get(i)) {
                  lose(listed.get(i).key());
                }
              }
              renewed(next, sent);
              return new Renewal.Renewed(renewal.storeMicros(), notifications(), false, "");
            });
  }

  /** The reason of the session's loss; null if it may be renewed. Does not notice a clone. */
  private Renewal.@Nullable Lost refusal(long previous, long next, long now) {
    beats.lock();
    try {
      if (closed) {
        return Refusals.SESSION_CLOSED;
      } else if (!created && previous != 0) {
        return new Renewal.Lost("the session was not opened here");
      } else if (created && previous != beat && next != beat) {
        return Refusals.RENEWED_BY_ANOTHER;
      } else if (created && validUntil - now <= 0) {
        return new Renewal.Lost("its holds have expired in the store");
      }
      return null;
    } finally {
      beats.unlock();
    }
  }

  private void renewed(long next, long sent) {
    beats.lock();
    try {
      created = true;
      beat = next;
      validUntil = sent + spec.ttl().toNanos();
    } finally {
      beats.unlock();
    }
  }

  private void lose(AttemptKey key) {
    if (holds.remove(key.attempt()) != null) {
      holdEnded.put(
          notificationIds.incrementAndGet(),
          new SessionNotification.HoldEnded(key.name(), key.attempt(), Reply.EndReason.UNKNOWN));
    }
  }

  private List<Renewal.NumberedNotification> notifications() {
    List<Renewal.NumberedNotification> notifications = new ArrayList<>();
    holdEnded.forEach((id, end) -> notifications.add(new Renewal.NumberedNotification(id, end)));
    return notifications;
  }

  /** Releases the keys that this session may have; an unreached key is free after a TTL. */
  @Override
  public CompletionStage<Void> close() {
    closed = true;
    List<CompletableFuture<?>> ends = new ArrayList<>();
    holds.forEach(
        (attempt, hold) ->
            ends.add(keys.release(hold.key.name(), attempt).exceptionally(failure -> false)));
    holds.clear();
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
  }
}
