package io.mortise.redis.plain;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.storekit.Refusals;
import io.mortise.redis.plain.CommandExecutor.CommandFailure;
import io.mortise.redis.transport.RedisReplies;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A session that the server does not know of. Each lock has a TTL of its own there, that of the
 * session; a renewal restarts all of them.
 *
 * <p><b>Why one deadline may stand for all locks.</b> A lease is believed in until a TTL after the
 * last renewal was <em>sent</em>. So at the server each lock must live for a TTL from that moment
 * at least. A lock that is granted by a request which was sent after that moment does, since its
 * TTL begins when the request is executed. Every other lock must be extended by the renewal itself.
 * It is, for a request is listed here before it is sent, and stays listed until its refusal or its
 * abandon: the renewal extends whatever is listed, granted or not yet answered. A lock that is
 * found to be ours already (its answer had been lost) is extended before it is granted, since it
 * may be old. A renewal counts only if every part of it was answered; a lock that was granted and
 * could not be extended is told as gone before the session gets more time.
 *
 * <p>A request that arrives after its attempt was abandoned takes the lock for nobody. It is not
 * listed, hence not extended, and free after a TTL.
 */
final class PlainSession implements StoreSession {
  /** So many locks are extended by one command: some 200 µs of the server. */
  private static final int CHUNK = 100;

  private final PlainStore store;
  private final Ticker ticker;
  private final SessionSpec spec;
  private final String ttlMillis;
  private final KeyWaiters waiters;
  private final Map<AttemptId, Hold> holds = new ConcurrentHashMap<>();
  private final Map<Long, SessionNotification.HoldEnded> holdEnded = new ConcurrentSkipListMap<>();
  private final AtomicLong notificationIds = new AtomicLong();

  private volatile boolean closed;

  /** Guards what follows. */
  private final ReentrantLock beats = new ReentrantLock();

  private long beat;
  private long validUntil;
  private boolean created;

  /** What may be ours in the server. */
  private static final class Hold {
    final LockName name;
    final String key;
    volatile boolean granted;

    Hold(LockName name, String key) {
      this.name = name;
      this.key = key;
    }
  }

  PlainSession(
      PlainStore store, Ticker ticker, SessionSpec spec, Consumer<SessionNotification> hints) {
    this.store = store;
    this.ticker = ticker;
    this.spec = spec;
    this.ttlMillis = Long.toString(spec.ttl().toMillis());
    this.waiters = new KeyWaiters(store.listener(), ticker, hints);
  }

  @Override
  public SessionId id() {
    return spec.id();
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    Reply refusal = store.profile().refusal(request).orElse(null);
    if (refusal == null && store.isFact(request.name())) {
      refusal =
          new Reply.Refused(
              request.attempt(),
              Reply.RefusalReason.UNSUPPORTED,
              "Lock name '%s' is that of a key which keeps a result of 'once', a latch or a barrier (store=%s). Use another name."
                  .formatted(request.name(), store));
    }
    if (refusal == null && !(request instanceof Request.Abandon)) {
      refusal = gone(request);
    }
    if (refusal != null) {
      sink.accept(refusal);
    } else if (request instanceof Request.Acquire acquire) {
      acquire(acquire, sink);
    } else if (request instanceof Request.Abandon abandon) {
      abandon(abandon, sink);
    } else if (request instanceof Request.Adjust adjust) {
      adjust(adjust, sink);
    }
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

  private void acquire(Request.Acquire request, Consumer<Reply> sink) {
    AttemptId attempt = request.attempt();
    String key = store.key(request.name());
    // Before it is sent: see above.
    holds.computeIfAbsent(attempt, absent -> new Hold(request.name(), key));
    var unused =
        store
            .requests()
            .call(store.layout().take(key, attempt.encoded(), ttlMillis))
            .whenComplete(
                (answer, failure) -> {
                  if (failure != null) {
                    sink.accept(failed(request, failure));
                  } else if (store.layout().isTaken(answer)) {
                    sink.accept(granted(attempt));
                  } else {
                    look(request, key, sink);
                  }
                });
  }

  private void look(Request.Acquire request, String key, Consumer<Reply> sink) {
    var unused =
        store
            .who(store.requests(), key)
            .whenComplete(
                (holder, failure) -> {
                  if (failure != null) {
                    sink.accept(failed(request, failure));
                  } else if (holder.isEmpty()) {
                    sink.accept(busy(request, null));
                  } else if (holder.get().value().equals(request.attempt().encoded())) {
                    again(request, sink);
                  } else {
                    sink.accept(busy(request, holder.get()));
                  }
                });
  }

  /** The lock is ours already. */
  private void again(Request.Acquire request, Consumer<Reply> sink) {
    var unused =
        extend(request)
            .whenComplete(
                (extended, failure) ->
                    sink.accept(
                        failure != null
                            ? failed(request, failure)
                            : extended ? granted(request.attempt()) : busy(request, null)));
  }

  private CompletableFuture<Boolean> extend(Request request) {
    return store
        .requests()
        .call(
            store
                .layout()
                .extend(
                    List.of(store.key(request.name())),
                    List.of(request.attempt().encoded()),
                    ttlMillis))
        .thenApply(PlainSession::firstIsOne);
  }

  private static boolean firstIsOne(@Nullable Object answer) {
    return answer instanceof List<?> list && !list.isEmpty() && RedisReplies.isOne(list.get(0));
  }

  private Reply granted(AttemptId attempt) {
    Hold hold = holds.get(attempt);
    if (hold != null) {
      hold.granted = true;
    }
    waiters.over(attempt);
    return new Reply.Granted(attempt, 0, 1, true, null);
  }

  private Reply busy(Request.Acquire request, @Nullable KeyHolder holder) {
    Hold hold = holds.get(request.attempt());
    if (hold != null && !hold.granted) {
      holds.remove(request.attempt());
    }
    if (holder == null) {
      return new Reply.Busy(request.attempt(), null, Duration.ofMillis(1));
    }
    waiters.refused(request.attempt(), request.name(), store.key(request.name()));
    return new Reply.Busy(
        request.attempt(),
        new Reply.Holder(holder.attempt(), 0, holder.left()),
        holder.left().plusMillis(1));
  }

  private Reply failed(Request request, Throwable failure) {
    CommandFailure commandFailure = CommandExecutor.failure(failure).orElse(null);
    if (commandFailure == null) {
      return new Reply.Failed(request.attempt(), true, failure);
    }
    if (!commandFailure.mayHaveRun() && request instanceof Request.Acquire) {
      Hold hold = holds.get(request.attempt());
      if (hold != null && !hold.granted) {
        // An earlier try of it may have been executed all the same, but then it is asked about.
        holds.remove(request.attempt());
      }
    }
    if (commandFailure.is("OOM")) {
      return new Reply.Refused(
          request.attempt(),
          Reply.RefusalReason.STORE_FULL,
          "Redis has no memory left for lock '%s' (store=%s): free some, or raise maxmemory."
              .formatted(request.name(), store));
    }
    return new Reply.Failed(
        request.attempt(), commandFailure.mayHaveRun(), commandFailure.unavailable());
  }

  private void abandon(Request.Abandon request, Consumer<Reply> sink) {
    AttemptId attempt = request.attempt();
    holds.remove(attempt);
    holdEnded.values().removeIf(notifications -> notifications.attempt().equals(attempt));
    waiters.over(attempt);
    var unused =
        store
            .requests()
            .call(store.release(store.key(request.name()), attempt.encoded()))
            .whenComplete(
                (answer, failure) -> {
                  if (failure == null && RedisReplies.isOne(answer)) {
                    sink.accept(
                        new Reply.Ended(
                            attempt, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
                  } else if (failure == null
                      || CommandExecutor.failure(failure)
                          .filter(refusal -> refusal.is("WRONGTYPE"))
                          .isPresent()) {
                    sink.accept(
                        new Reply.Ended(
                            attempt, Reply.AttemptState.ABSENT, Reply.EndReason.UNKNOWN, false));
                  } else {
                    sink.accept(failed(request, failure));
                  }
                });
  }

  /** There is nothing to adjust but the hold itself, which must still be there. */
  private void adjust(Request.Adjust request, Consumer<Reply> sink) {
    var unused =
        extend(request)
            .whenComplete(
                (extended, failure) -> {
                  if (failure != null) {
                    sink.accept(failed(request, failure));
                  } else if (extended) {
                    sink.accept(new Reply.Granted(request.attempt(), 0, 1, true, null));
                  } else {
                    sink.accept(Refusals.notHeld(request.attempt(), request.name()));
                  }
                });
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    long sent = ticker.nanos();
    Renewal.Lost lost = refusal(previous, next, sent);
    if (lost != null) {
      return CompletableFuture.completedFuture(lost);
    }
    seen.forEach(holdEnded::remove);
    waiters.sweep(spec.ttl());
    List<Map.Entry<AttemptId, Hold>> listed = List.copyOf(holds.entrySet());
    Set<AttemptId> granted =
        listed.stream()
            .filter(entry -> entry.getValue().granted)
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    CompletableFuture<@Nullable Object> time = store.renewals().call(RedisCommand.of("TIME"));
    CompletableFuture<List<AttemptId>> missing = CompletableFuture.completedFuture(List.of());
    for (int from = 0; from < listed.size(); from += CHUNK) {
      missing =
          missing.thenCombine(
              extendAll(listed.subList(from, Math.min(listed.size(), from + CHUNK))),
              PlainSession::concat);
    }
    return time.thenCombine(
            missing,
            (now, absent) -> {
              absent.stream().filter(granted::contains).forEach(this::lose);
              renewed(next, sent);
              return (Renewal)
                  new Renewal.Renewed(
                      micros(now),
                      holdEnded.entrySet().stream()
                          .map(
                              one -> new Renewal.NumberedNotification(one.getKey(), one.getValue()))
                          .toList(),
                      false);
            })
        .exceptionally(failure -> new Renewal.Unknown(RedisReplies.unwrap(failure)));
  }

  /** Why the session is lost; null if it may be renewed. A clone of the process is not noticed. */
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

  private CompletableFuture<List<AttemptId>> extendAll(List<Map.Entry<AttemptId, Hold>> chunk) {
    List<String> keys = chunk.stream().map(entry -> entry.getValue().key).toList();
    List<String> values = chunk.stream().map(entry -> entry.getKey().encoded()).toList();
    return store
        .renewals()
        .call(store.layout().extend(keys, values, ttlMillis))
        .thenApply(
            answer -> {
              if (!(answer instanceof List<?> extended) || extended.size() != chunk.size()) {
                throw new StoreUnavailableException(
                    "Redis answered to a renewal in another form (store=" + store + ").");
              }
              List<AttemptId> missing = new ArrayList<>();
              for (int i = 0; i < extended.size(); i++) {
                if (!RedisReplies.isOne(extended.get(i))) {
                  missing.add(chunk.get(i).getKey());
                }
              }
              return missing;
            });
  }

  private static <T> List<T> concat(List<T> left, List<T> right) {
    List<T> both = new ArrayList<>(left);
    both.addAll(right);
    return both;
  }

  private void lose(AttemptId attempt) {
    Hold hold = holds.remove(attempt);
    if (hold != null) {
      holdEnded.put(
          notificationIds.incrementAndGet(),
          new SessionNotification.HoldEnded(hold.name, attempt, Reply.EndReason.UNKNOWN));
    }
  }

  private static long micros(@Nullable Object time) {
    return time instanceof List<?> parts && parts.size() == 2
        ? Long.parseLong(String.valueOf(parts.get(0))) * 1_000_000
            + Long.parseLong(String.valueOf(parts.get(1)))
        : 0;
  }

  /** Gives back what may be ours; what that does not reach is free after a TTL. */
  @Override
  public CompletionStage<Void> close() {
    closed = true;
    waiters.close();
    List<CompletableFuture<?>> ends = new ArrayList<>();
    holds.forEach(
        (attempt, hold) ->
            ends.add(
                store
                    .requests()
                    .call(store.release(hold.key, attempt.encoded()))
                    .exceptionally(failure -> null)));
    holds.clear();
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
  }
}
