package io.mortise.memcached;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.storekit.ExpiringKeys;
import io.mortise.memcached.MetaException.FailureKind;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockView;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Locks as items. This class never sends three commands. A store of an item to extend it, and
 * {@code ms} in mode {@code E}, both delete the item if the server has no room. A delete without
 * the CAS value may hit another's lock. Tests show each.
 *
 * <p><b>How long an item lives.</b> The server counts whole seconds, so an item may expire up to
 * one second early. Every few minutes its timer moves on and the clock skips another second. A
 * {@link ServerClock} that was first read within a second does not notice a third one. So an item
 * lives for the TTL, rounded up, and three seconds.
 */
final class MemcachedKeys implements ExpiringKeys {
  static final Duration EXPIRY_LAG = Duration.ofSeconds(4);
  private static final int EARLY_SECONDS = 3;

  private final MemcachedTarget target;
  private final StoreProfile profile;
  private final MetaTransport requests;
  private final MetaTransport renewals;
  private final ServerClockReader clock;

  /** CAS values of what was granted, which spare a release a round trip. */
  private final Map<AttemptId, String> casValues = new ConcurrentHashMap<>();

  /** By name, the latest request that is a release of two round trips or waits for one. */
  private final Map<LockName, CompletableFuture<?>> unfinished = new ConcurrentHashMap<>();

  MemcachedKeys(
      MemcachedTarget target,
      StoreProfile profile,
      MetaTransport requests,
      MetaTransport renewals,
      ServerClockReader clock) {
    this.target = target;
    this.profile = profile;
    this.requests = requests;
    this.renewals = renewals;
    this.clock = clock;
  }

  /** What an item gets, so that it lives for the TTL at least. */
  static long seconds(Duration ttl) {
    return ttl.plusNanos(999_999_999).toSeconds() + EARLY_SECONDS;
  }

  @Override
  public StoreProfile profile() {
    return profile;
  }

  String key(LockName name) {
    return ItemKey.of(target.prefix(), name);
  }

  private static MetaCommand looking(String key) {
    return MetaCommand.meta("mg " + key + " v c t");
  }

  @Override
  public CompletableFuture<TakenKey> take(LockName name, AttemptId attempt, SessionSpec session) {
    return inOrder(name, () -> add(name, attempt, session));
  }

  /**
   * Requests of a name are executed in the order in which they were made, also after a release that
   * takes two round trips.
   */
  private <T> CompletableFuture<T> inOrder(LockName name, Supplier<CompletableFuture<T>> step) {
    CompletableFuture<?> before = unfinished.get(name);
    return before == null
        ? step.get()
        : last(name, before.handle((answer, failure) -> true).thenCompose(over -> step.get()));
  }

  private <T> CompletableFuture<T> last(LockName name, CompletableFuture<T> result) {
    unfinished.put(name, result);
    var unused = result.whenComplete((answer, failure) -> unfinished.remove(name, result));
    return result;
  }

  private CompletableFuture<TakenKey> add(LockName name, AttemptId attempt, SessionSpec session) {
    String key = key(name);
    LockItem item = new LockItem(attempt, session.client());
    return requests
        .call(List.of(MetaCommand.add(key, seconds(session.ttl()), item.encoded()), looking(key)))
        .thenApply(
            replies -> {
              MetaReply added = replies.get(0);
              MetaReply found = unlessError(replies.get(1));
              if (!added.isOutOfMemory()) {
                unlessError(added);
              } else if (!found.is("VA")) {
                throw failure(FailureKind.FULL, added);
              }
              return found.is("VA") ? taken(attempt, added, found) : TakenKey.GONE;
            });
  }

  private TakenKey taken(AttemptId attempt, MetaReply added, MetaReply found) {
    AttemptId owner = LockItem.owner(found.value());
    if (owner.equals(attempt)) {
      casValues.put(attempt, found.flag('c'));
      if (added.is("STORED")) {
        return TakenKey.TAKEN;
      }
    }
    Duration left = left(found);
    return new TakenKey(false, new KeyOwner(owner, left, left.plusSeconds(EARLY_SECONDS + 1)));
  }

  private static CompletionException failure(FailureKind kind, MetaReply reply) {
    return new CompletionException(
        new MetaException(kind, "The server refused a request: " + reply.shown(), null));
  }

  /**
   * The time left for the hold, which is shorter than that of the item. An item without an end is
   * nobody's lock; it is shown as an hour.
   */
  private static Duration left(MetaReply found) {
    long seconds = found.number('t');
    return seconds < 0
        ? Duration.ofHours(1)
        : Duration.ofSeconds(Math.max(1, seconds - EARLY_SECONDS));
  }

  @Override
  public CompletableFuture<List<Boolean>> extend(List<AttemptKey> keys, Duration ttl) {
    return inOrder(keys.get(0).name(), () -> extend(requests, keys, ttl));
  }

  @Override
  public CompletableFuture<?> beforeRenewal() {
    return clock.read(renewals);
  }

  @Override
  public CompletableFuture<KeyRenewal> renew(List<AttemptKey> keys, Duration ttl) {
    return extend(renewals, keys, ttl).thenApply(extended -> new KeyRenewal(0, extended));
  }

  /** Touches and looks. This may touch another's item once, which then expires later. */
  private CompletableFuture<List<Boolean>> extend(
      MetaTransport transport, List<AttemptKey> keys, Duration ttl) {
    if (keys.isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    List<MetaCommand> commands =
        keys.stream()
            .map(key -> MetaCommand.meta("mg " + key(key.name()) + " v T" + seconds(ttl)))
            .toList();
    return transport
        .call(commands)
        .thenApply(
            replies -> {
              replies.forEach(MemcachedKeys::unlessError);
              return IntStream.range(0, keys.size())
                  .mapToObj(i -> isOf(replies.get(i), keys.get(i).attempt()))
                  .toList();
            });
  }

  private boolean isOf(MetaReply reply, AttemptId attempt) {
    boolean is = reply.is("VA") && LockItem.owner(reply.value()).equals(attempt);
    if (!is) {
      casValues.remove(attempt);
    }
    return is;
  }

  @Override
  public CompletableFuture<Boolean> release(LockName name, AttemptId attempt) {
    String cas = unfinished.containsKey(name) ? null : casValues.remove(attempt);
    return cas == null
        ? last(name, inOrder(name, () -> lookAndDelete(key(name), attempt)))
        : delete(key(name), cas);
  }

  private CompletableFuture<Boolean> lookAndDelete(String key, AttemptId attempt) {
    return look(requests, key)
        .thenCompose(
            found -> {
              // Now, since the answer to an acquire before it may have told one.
              casValues.remove(attempt);
              return isOf(found, attempt)
                  ? delete(key, found.flag('c'))
                  : CompletableFuture.completedFuture(false);
            });
  }

  private CompletableFuture<Boolean> delete(String key, String cas) {
    return requests
        .call(List.of(MetaCommand.meta("md " + key + " C" + cas)))
        .thenApply(replies -> unlessError(replies.get(0)).is("HD"));
  }

  private static CompletableFuture<MetaReply> look(MetaTransport transport, String key) {
    return transport.call(List.of(looking(key))).thenApply(replies -> unlessError(replies.get(0)));
  }

  private static MetaReply unlessError(MetaReply reply) {
    if (reply.isError()) {
      throw failure(FailureKind.UNANSWERED, reply);
    }
    return reply;
  }

  /** A lock, for people who look. */
  CompletableFuture<Optional<LockView>> view(LockName name) {
    return look(renewals, key(name))
        .thenApply(found -> found.is("VA") ? Optional.of(view(name, found)) : Optional.empty());
  }

  private static LockView view(LockName name, MetaReply found) {
    LockItem item = LockItem.parse(found.value());
    LockView.Participant holder =
        new LockView.Participant(
            item.attempt(), item.client(), "", Mode.SHARERS, 0, Duration.ZERO, left(found), null);
    return new LockView(name, Mode.SHARERS, 0, Duration.ZERO, List.of(holder), List.of());
  }

  @Override
  public Reply failed(Request request, Throwable failure) {
    if (!(failure instanceof MetaException meta)) {
      return new Reply.Failed(request.attempt(), true, failure);
    } else if (meta.kind() == FailureKind.FULL) {
      return new Reply.Refused(
          request.attempt(),
          Reply.RefusalReason.STORE_FULL,
          "Memcached has no memory left for lock '%s' (store=%s): give it more, by -m."
              .formatted(request.name(), target));
    }
    return new Reply.Failed(
        request.attempt(), meta.kind() != FailureKind.NOT_SENT, unavailable(meta));
  }

  /** What a request failed with, for users. */
  StoreUnavailableException unavailable(MetaException failure) {
    return new StoreUnavailableException(
        "Memcached cannot be asked (store=%s). %s The request %s."
            .formatted(
                target,
                failure.getMessage(),
                failure.kind() == FailureKind.UNANSWERED
                    ? "may have been executed"
                    : "was not executed"),
        failure);
  }
}
