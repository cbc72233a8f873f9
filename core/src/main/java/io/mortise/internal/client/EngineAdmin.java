package io.mortise.internal.client;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LocalWaits;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.admin.StoreInfo;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.internal.runtime.StoreCall;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreProfile;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Queries the store itself, bypassing the engine, and returns its answers as values of the API. */
final class EngineAdmin implements LockAdmin {
  private static final Map<Feature, Capability> FEATURES =
      new EnumMap<>(
          Map.of(
              Feature.QUEUE, Capability.QUEUE,
              Feature.SHARED, Capability.SHARED,
              Feature.PERMITS, Capability.PERMITS,
              Feature.AT_LEAST, Capability.AT_LEAST,
              Feature.COUNTS_AT_LEAST, Capability.AT_MOST,
              Feature.FENCING_TOKENS, Capability.TOKEN,
              Feature.DOWNGRADE, Capability.DOWNGRADE,
              Feature.EVICTION, Capability.EVICT,
              Feature.STICKY, Capability.CALL_BACK));

  private final LockStore store;
  private final StoreCall call;
  private final OwnLocks ownLocks;

  /** Facts that only the client's own process knows. */
  interface OwnLocks {
    /** How long the client keeps this grant idle; null if it does not. */
    @Nullable Duration idleLeft(LockName name, AttemptId attempt);

    /** The waits of its callers. */
    LocalWaits waits();
  }

  EngineAdmin(LockStore store, Runnable refuseIfClosed, OwnLocks ownLocks) {
    this.store = store;
    this.call = new StoreCall(store, refuseIfClosed);
    this.ownLocks = ownLocks;
  }

  @Override
  public Optional<LockInfo> find(String name) {
    LockQuery query = LockQuery.of(LockName.of(name).value());
    return ask(() -> store.inspect(query)).items().stream().findFirst().map(this::info);
  }

  @Override
  public Page<LockInfo> list(LockQuery query) {
    Objects.requireNonNull(query, "query");
    if (!query.prefix().isEmpty()) {
      var unused = LockName.of(query.prefix());
    }
    Page<LockInfo> page = askPage(() -> store.inspect(query));
    return new Page<>(
        page.items().stream()
            .map(lock -> query.isSummary() ? summary(lock) : lock)
            .map(this::info)
            .toList(),
        page.next());
  }

  /** The summary of a lock from a store that returns more detail. */
  private static LockInfo summary(LockInfo lock) {
    LockParticipant first = lock.holders().isEmpty() ? null : lock.holders().get(0);
    return LockInfo.summary(
        lock.name(),
        lock.permits(),
        lock.holderCount(),
        lock.waiterCount(),
        first == null
            ? null
            : AttemptId.parse(first.attempt()).holder(first.label(), first.share(), first.since()),
        lock.shutFor());
  }

  private <T> T ask(Callable<CompletionStage<T>> question) {
    return ask(question, false);
  }

  private <T> T askPage(Callable<CompletionStage<T>> question) {
    return ask(question, true);
  }

  private <T> T ask(Callable<CompletionStage<T>> question, boolean page) {
    try {
      return page ? call.askPage(question) : call.ask(question);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException(
          "Interrupted while asking store '" + store.profile().display() + "'.", e);
    }
  }

  @Override
  public Page<SessionInfo> sessions(@Nullable String cursor, int limit) {
    if (limit < 1 || limit > MAX_PAGE) {
      throw new IllegalArgumentException(
          "A page has 1 to " + MAX_PAGE + " sessions, not " + limit + ".");
    }
    return askPage(() -> store.sessions(cursor, limit));
  }

  @Override
  public EvictionResult evict(String name, String attempt, Eviction how) {
    LockName checked = LockName.of(name);
    Objects.requireNonNull(how, "how");
    AttemptId id = AttemptId.of(Objects.requireNonNull(attempt, "attempt"));
    return switch (ask(() -> store.evict(checked, id, how)).was()) {
      case HELD -> EvictionResult.HOLD_ENDED;
      case WAITING -> EvictionResult.WAIT_ENDED;
      case ABSENT -> EvictionResult.NOT_THERE;
    };
  }

  @Override
  public boolean reopen(String name) {
    LockName checked = LockName.of(name);
    return ask(() -> store.reopen(checked));
  }

  @Override
  public LocalWaits localWaits() {
    return ownLocks.waits();
  }

  @Override
  public StoreInfo store() {
    StoreProfile profile = store.profile();
    return new StoreInfo(
        profile.display(),
        FEATURES.entrySet().stream()
            .filter(feature -> profile.can(feature.getValue()))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet()),
        profile.minTtl());
  }

  @Override
  public String toString() {
    return "LockAdmin[" + store.profile().display() + "]";
  }

  /** Adds the fact that only this process knows: how long it keeps a lock idle. */
  private LockInfo info(LockInfo lock) {
    if (lock.holders().stream().noneMatch(LockParticipant::sticky)) {
      return lock;
    }
    LockName name = LockName.of(lock.name());
    return new LockInfo(
        lock.name(),
        lock.permits(),
        lock.lastToken(),
        lock.shutFor(),
        lock.holders().stream().map(holder -> withIdleTime(name, holder)).toList(),
        lock.waiters(),
        lock.holderCount(),
        lock.waiterCount(),
        lock.lastEnd());
  }

  private LockParticipant withIdleTime(LockName name, LockParticipant holder) {
    return holder.sticky()
        ? holder.idleFor(ownLocks.idleLeft(name, AttemptId.parse(holder.attempt())))
        : holder;
  }
}
