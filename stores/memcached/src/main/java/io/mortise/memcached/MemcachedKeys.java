package io.mortise.memcached;

import io.mortise.LockName;
import io.mortise.StoreUnavailableException;
import io.mortise.admin.LockInfo;
import io.mortise.memcached.MetaException.FailureKind;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.time.Ticker;
import io.mortise.support.expiring.ExpiringKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks as items. This class never sends four commands. A store of an item to extend it, and {@code
 * ms} in mode {@code E}, both delete the item if the server has no room. A delete or a touch
 * without the CAS value may hit another's lock. Tests show each.
 *
 * <p><b>How an item is extended.</b> {@code md KEY I T… C…} compares the CAS value, and sets a new
 * expiry without storing anything. It marks the item as stale, which nothing here looks at, and
 * gives it another CAS value. So a lock is looked at, and touched if the item is its attempt's. A
 * waiter's renewal does not change the item of another, nor does a holder's that has lost the lock.
 *
 * <p><b>CAS values.</b> They begin anew when the server restarts. A CAS value is used only on a
 * connection to the process of the server that gave it.
 *
 * <p><b>How long an item lives.</b> The server counts whole seconds, so its clock is up to one
 * second late, and up to two before it skips a second, which it does every few minutes. The first
 * reading of a {@link ServerClock} may be so late. A later one counts if it is at most two seconds
 * later than that. An item that is touched then expires up to four seconds early. So it gets the
 * TTL, rounded up, and four seconds.
 *
 * <p><b>Waiters.</b> A fetch without the flag {@code u} marks an item. Only an acquire that found
 * the item of another session sends one; a release looks for the mark.
 */
final class MemcachedKeys implements ExpiringKeys {
  static final Duration EXPIRY_LAG = Duration.ofSeconds(5);
  private static final int EARLY_SECONDS = 4;

  private final MemcachedTarget target;
  private final StoreProfile profile;
  private final Ticker ticker;
  private final MetaTransport requests;
  private final MetaTransport renewals;
  private final ServerClockReader clock;
  private final Consumer<SessionNotification.Contended> contended;

  /** CAS values of granted attempts, which spare a release a round trip. */
  private final Map<AttemptId, KnownCas> casValues = new ConcurrentHashMap<>();

  /** By name, the latest request that is a release of two round trips or waits for one. */
  private final Map<LockName, CompletableFuture<?>> unfinished = new ConcurrentHashMap<>();

  /**
   * A CAS value.
   *
   * @param connection that of requests which was there when it was asked for. Another process of
   *     the server, which gave the value since, does not answer there.
   * @param grantedAt by the ticker
   */
  private record KnownCas(String value, MetaConnection connection, long grantedAt) {}

  MemcachedKeys(
      MemcachedTarget target,
      StoreProfile profile,
      Ticker ticker,
      MetaTransport requests,
      MetaTransport renewals,
      ServerClockReader clock,
      Consumer<SessionNotification.Contended> contended) {
    this.target = target;
    this.profile = profile;
    this.ticker = ticker;
    this.requests = requests;
    this.renewals = renewals;
    this.clock = clock;
    this.contended = contended;
  }

  /** The time that an item gets, so that it lives for the TTL at least. */
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

  /** A look that leaves no mark. */
  private static MetaCommand looking(String key) {
    return MetaCommand.meta("mg " + key + " u v c t");
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
    MetaConnection connection = requests.connection();
    return requests
        .call(
            connection,
            List.of(MetaCommand.add(key, seconds(session.ttl()), item.encoded()), looking(key)))
        .thenApply(
            replies -> {
              MetaReply added = replies.get(0);
              MetaReply found = unlessError(replies.get(1));
              if (!added.isOutOfMemory()) {
                unlessError(added);
              } else if (!found.is("VA")) {
                throw failure(FailureKind.FULL, added);
              }
              return found.is("VA") ? taken(key, attempt, added, found, connection) : TakenKey.GONE;
            });
  }

  private TakenKey taken(
      String key,
      AttemptId attempt,
      MetaReply added,
      MetaReply found,
      @Nullable MetaConnection connection) {
    AttemptId owner = LockItem.owner(found.value());
    if (owner.equals(attempt)) {
      if (connection != null) {
        casValues.put(attempt, new KnownCas(found.flag('c'), connection, ticker.nanos()));
      }
      if (added.is("STORED")) {
        return TakenKey.TAKEN;
      }
    }
    if (!owner.session().equals(attempt.session())) {
      // The mark that the holder looks for.
      var unused = requests.call(connection, List.of(MetaCommand.meta("mg " + key)));
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
    return clock.read(renewals, requests);
  }

  @Override
  public CompletableFuture<KeyRenewal> renew(List<AttemptKey> keys, Duration ttl) {
    return extend(renewals, keys, ttl).thenApply(extended -> new KeyRenewal(0, extended));
  }

  /** Looks at all, then touches those that the look showed to be of their attempts. */
  private CompletableFuture<List<Boolean>> extend(
      MetaTransport transport, List<AttemptKey> keys, Duration ttl) {
    if (keys.isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    MetaConnection connection = transport.connection();
    return lookAtAll(transport, connection, keys)
        .thenCompose(found -> touch(transport, connection, keys, found, seconds(ttl)));
  }

  private CompletableFuture<List<MetaReply>> lookAtAll(
      MetaTransport transport, @Nullable MetaConnection connection, List<AttemptKey> keys) {
    return transport.call(connection, keys.stream().map(key -> looking(key(key.name()))).toList());
  }

  /**
   * Touches and looks again. An item of the attempt counts also if its CAS value had changed: it
   * was written or touched since the first look, for the same TTL.
   */
  private CompletableFuture<List<Boolean>> touch(
      MetaTransport transport,
      @Nullable MetaConnection connection,
      List<AttemptKey> keys,
      List<MetaReply> found,
      long seconds) {
    MetaConnection forRequests = requests.connection();
    List<MetaCommand> commands = new ArrayList<>();
    List<Integer> touched = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      if (isOf(unlessError(found.get(i)), keys.get(i).attempt())) {
        String key = key(keys.get(i).name());
        commands.add(
            MetaCommand.meta("md " + key + " I T" + seconds + " C" + found.get(i).flag('c')));
        commands.add(looking(key));
        touched.add(i);
      }
    }
    List<Boolean> extended = new ArrayList<>(Collections.nCopies(keys.size(), false));
    if (touched.isEmpty()) {
      return CompletableFuture.completedFuture(extended);
    }
    return transport
        .call(connection, commands)
        .thenApply(
            replies -> {
              replies.forEach(MemcachedKeys::unlessError);
              for (int i = 0; i < touched.size(); i++) {
                AttemptId attempt = keys.get(touched.get(i)).attempt();
                MetaReply after = replies.get(2 * i + 1);
                extended.set(touched.get(i), isOf(after, attempt));
                casValues.computeIfPresent(
                    attempt,
                    (same, before) ->
                        forRequests == null
                            ? null
                            : new KnownCas(after.flag('c'), forRequests, before.grantedAt()));
              }
              return extended;
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
    KnownCas cas = unfinished.containsKey(name) ? null : casValues.remove(attempt);
    if (cas == null || cas.connection() != requests.connection()) {
      return lookAndDeleteInOrder(name, attempt);
    }
    return (isLong(cas)
            ? deleteAndNotify(cas.connection(), name, attempt, cas.value())
            : delete(cas.connection(), name, cas.value()))
        .thenCompose(
            deleted ->
                deleted.is("EX")
                    ? lookAndDeleteInOrder(name, attempt)
                    : CompletableFuture.completedFuture(deleted.is("HD")));
  }

  private CompletableFuture<Boolean> lookAndDeleteInOrder(LockName name, AttemptId attempt) {
    return last(name, inOrder(name, () -> lookAndDelete(name, attempt)));
  }

  /**
   * Again where a renewal that was in flight has touched the item meanwhile; there is one, or two.
   */
  private CompletableFuture<Boolean> lookAndDelete(LockName name, AttemptId attempt) {
    MetaConnection connection = requests.connection();
    return requests
        .call(connection, List.of(looking(key(name))))
        .thenCompose(
            looked -> {
              MetaReply found = unlessError(looked.get(0));
              // Now, since the answer to an acquire before it may have told one.
              casValues.remove(attempt);
              return isOf(found, attempt)
                  ? deleteAndNotify(connection, name, attempt, found.flag('c'))
                      .thenCompose(
                          deleted ->
                              deleted.is("EX")
                                  ? lookAndDelete(name, attempt)
                                  : CompletableFuture.completedFuture(deleted.is("HD")))
                  : CompletableFuture.completedFuture(false);
            });
  }

  /**
   * Whether waiters would seldom find the lock free if it were taken again at once. It is free for
   * a round trip then, which is a quarter of the time after holds of two.
   */
  private boolean isLong(KnownCas cas) {
    return (ticker.nanos() - cas.grantedAt()) / 2 > requests.roundTripNanos();
  }

  private static MetaCommand deleting(String key, String cas) {
    return MetaCommand.meta("md " + key + " C" + cas);
  }

  private CompletableFuture<MetaReply> delete(
      @Nullable MetaConnection connection, LockName name, String cas) {
    return requests
        .call(connection, List.of(deleting(key(name), cas)))
        .thenApply(replies -> unlessError(replies.get(0)));
  }

  /** Deletes the item of an attempt, and tells its session if another one has met the item. */
  private CompletableFuture<MetaReply> deleteAndNotify(
      @Nullable MetaConnection connection, LockName name, AttemptId attempt, String cas) {
    String key = key(name);
    return requests
        .call(connection, List.of(MetaCommand.meta("mg " + key + " u h"), deleting(key, cas)))
        .thenApply(
            replies -> {
              MetaReply deleted = unlessError(replies.get(1));
              if (deleted.is("HD") && replies.get(0).flag('h').equals("1")) {
                contended.accept(new SessionNotification.Contended(name, attempt));
              }
              return deleted;
            });
  }

  private static MetaReply unlessError(MetaReply reply) {
    if (reply.isError()) {
      throw failure(FailureKind.UNANSWERED, reply);
    }
    return reply;
  }

  /** A lock, for people who look. */
  CompletableFuture<Optional<LockInfo>> view(LockName name) {
    return renewals
        .call(List.of(looking(key(name))))
        .thenApply(replies -> unlessError(replies.get(0)))
        .thenApply(found -> found.is("VA") ? Optional.of(view(name, found)) : Optional.empty());
  }

  private static LockInfo view(LockName name, MetaReply found) {
    LockItem item = LockItem.parse(found.value());
    return ExpiringKeys.view(name, item.attempt(), item.client(), left(found));
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

  /** The failure of a request, for users. */
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
