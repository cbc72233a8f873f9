package io.mortise.internal.judge;

import io.mortise.LockName;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.Memory;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreReport;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store that hands everything on to another, but for what a subclass overrides: also what has a
 * default, which a wrapper forgets without anybody's noticing.
 */
public abstract class ForwardingStore implements LockStore {
  private final LockStore store;

  /** Before the store to which all is handed on. */
  protected ForwardingStore(LockStore store) {
    this.store = store;
  }

  @Override
  public StoreProfile profile() {
    return store.profile();
  }

  @Override
  public @Nullable Memory memory() {
    return store.memory();
  }

  @Override
  public void checkTtl(Duration ttl) {
    store.checkTtl(ttl);
  }

  @Override
  public StoreSession open(SessionSpec spec, Consumer<News> hints) {
    return store.open(spec, hints);
  }

  @Override
  public CompletionStage<Verdict> judge(SessionId session) {
    return store.judge(session);
  }

  @Override
  public CompletionStage<LockPage> inspect(LockQuery query) {
    return store.inspect(query);
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
  public void linger(BooleanSupplier done, Duration longest) {
    store.linger(done, longest);
  }

  @Override
  public void close() {
    store.close();
  }
}
