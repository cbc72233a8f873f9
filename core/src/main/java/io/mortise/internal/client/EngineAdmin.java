package io.mortise.internal.client;

import io.mortise.LockException;
import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.admin.EvictionResult;
import io.mortise.admin.LocalWaits;
import io.mortise.admin.LockAdmin;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.admin.LockParticipant.Access;
import io.mortise.admin.LockParticipant.Share;
import io.mortise.admin.LockSummary;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.admin.StoreInfo;
import io.mortise.admin.StoreInfo.Feature;
import io.mortise.internal.runtime.StoreCall;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Capability;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.LockView;
import io.mortise.spi.Mode;
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

/** Asks the store itself, past the engine, and shows its answers in the words of the API. */
final class EngineAdmin implements LockAdmin {
  private static final Map<Feature, Capability> FEATURES =
      new EnumMap<>(
          Map.of(
              Feature.QUEUE, Capability.QUEUE,
              Feature.SHARED, Capability.SHARED,
              Feature.PERMITS, Capability.PERMITS,
              Feature.AT_MOST, Capability.AT_MOST,
              Feature.AT_LEAST, Capability.AT_LEAST,
              Feature.FENCING_TOKENS, Capability.TOKEN,
              Feature.DOWNGRADE, Capability.DOWNGRADE,
              Feature.EVICTION, Capability.EVICT,
              Feature.STICKY, Capability.CALL_BACK));

  private final LockStore store;
  private final StoreCall call;
  private final OwnLocks ownLocks;

  /** What only the client's own process knows. */
  interface OwnLocks {
    /** For how long the client keeps this grant idle; null if it does not. */
    @Nullable Duration idleLeft(LockName name, AttemptId attempt);

    /** Which of its callers wait. */
    LocalWaits waits();
  }

  EngineAdmin(LockStore store, Runnable refuseIfClosed, OwnLocks ownLocks) {
    this.store = store;
    this.call = new StoreCall(store, refuseIfClosed);
    this.ownLocks = ownLocks;
  }

  @Override
  public Optional<LockInfo> find(String name) {
    LockQuery query = LockQuery.of(LockName.of(name));
    return ask(() -> store.inspect(query)).items().stream().findFirst().map(this::info);
  }

  @Override
  public Page<LockInfo> list(String prefix, @Nullable String cursor, int limit) {
    return page(query(prefix, cursor, limit, false));
  }

  @Override
  public Page<LockInfo> listAll(String prefix, @Nullable String cursor, int limit) {
    return page(query(prefix, cursor, limit, true));
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

  private static LockQuery query(String prefix, @Nullable String cursor, int limit, boolean idle) {
    return new LockQuery(null, Objects.requireNonNull(prefix, "prefix"), cursor, limit, idle);
  }

  private Page<LockInfo> page(LockQuery query) {
    var page = askPage(() -> store.inspect(query));
    return new Page<>(page.items().stream().map(this::info).toList(), page.next());
  }

  @Override
  public Page<LockSummary> survey(String prefix, @Nullable String cursor, int limit) {
    LockQuery query = query(prefix, cursor, limit, false);
    return askPage(() -> store.survey(query));
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

  private LockInfo info(LockView lock) {
    return new LockInfo(
        lock.name().value(),
        lock.permits(),
        lock.lastToken(),
        lock.shutFor(),
        lock.holders().stream().map(participant -> party(lock, participant)).toList(),
        lock.waiters().stream().map(participant -> party(lock, participant)).toList(),
        lock.waiterCount(),
        lock.lastEnd());
  }

  private LockParticipant party(LockView lock, LockView.Participant participant) {
    ClientLabel client = participant.client();
    boolean sticky = participant.attempt().isSticky();
    return new LockParticipant(
        participant.attempt().encoded(),
        client == null ? null : client.info(),
        participant.label(),
        share(participant.weight(), lock.capacity()),
        participant.token(),
        participant.since(),
        participant.sessionLeft(),
        participant.atMostLeft(),
        sticky,
        sticky ? ownLocks.idleLeft(lock.name(), participant.attempt()) : null,
        participant.sessionTtl(),
        participant.renewedAgo());
  }

  /** The numbers are a store's, which nobody has checked. */
  private static Share share(int weight, int capacity) {
    if (capacity != Mode.SHARERS) {
      return new Share(Access.PERMITS, weight, capacity);
    }
    return new Share(weight == capacity ? Access.EXCLUSIVE : Access.SHARED, 0, 0);
  }
}
