package io.mortise.support.liveness;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.admin.LockInfo;
import io.mortise.admin.LockQuery;
import io.mortise.admin.Page;
import io.mortise.admin.SessionInfo;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Fact;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.ServerIncarnation;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.SessionVerdict;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store that forwards all calls to another, except those that a subclass overrides. It also
 * forwards methods with a default, which a wrapper could otherwise miss unnoticed.
 */
public abstract class ForwardingStore implements LockStore {
  private final LockStore store;

  /** A store in front of the given one. */
  protected ForwardingStore(LockStore store) {
    this.store = store;
  }

  @Override
  public StoreProfile profile() {
    return store.profile();
  }

  @Override
  public @Nullable ServerIncarnation incarnation() {
    return store.incarnation();
  }

  @Override
  public void checkTtl(Duration ttl) {
    store.checkTtl(ttl);
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
    return store.open(spec, hints);
  }

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return store.judge(session);
  }

  @Override
  public CompletionStage<Page<LockInfo>> inspect(LockQuery query) {
    return store.inspect(query);
  }

  @Override
  public CompletionStage<Page<SessionInfo>> sessions(@Nullable String cursor, int limit) {
    return store.sessions(cursor, limit);
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return store.evict(name, attempt, how);
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return store.reopen(name);
  }

  @Override
  public CompletionStage<Fact> readFact(LockName name) {
    return store.readFact(name);
  }

  @Override
  public CompletionStage<Long> replaceFact(
      LockName name, long version, String content, Duration keep) {
    return store.replaceFact(name, version, content, keep);
  }

  @Override
  public UnsupportedByStoreException factsRefusal() {
    return store.factsRefusal();
  }

  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return store.sweep(budget);
  }

  @Override
  public CompletionStage<Boolean> claimSweep() {
    return store.claimSweep();
  }

  @Override
  public CompletionStage<StoreReport> examine() {
    return store.examine();
  }

  @Override
  public void helpWhileWaiting(BooleanSupplier done, Duration longest) {
    store.helpWhileWaiting(done, longest);
  }

  @Override
  public void close() {
    store.close();
  }
}
