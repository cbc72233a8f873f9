package io.mortise.support.expiring;

import io.mortise.LockName;
import io.mortise.UnsupportedByStoreException;
import io.mortise.admin.Eviction;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionVerdict;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A store of {@link ExpiringKeys}: its refusals, because its server keeps only a key with an expiry
 * of a lock. Thread-safe.
 */
public abstract class ExpiringKeyStore implements LockStore {
  /** For subclasses. */
  protected ExpiringKeyStore() {}

  /** What an operator may delete in the server to free a lock, as {@code the key 'x'}. */
  protected abstract String inServer(LockName name);

  @Override
  public CompletionStage<SessionVerdict> judge(SessionId session) {
    return refused("keeps no sessions that could be judged: each hold ends by itself");
  }

  @Override
  public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
    return refused(
        "cannot evict: nobody would tell the holder. Delete "
            + inServer(name)
            + " if the holder is surely gone");
  }

  @Override
  public CompletionStage<Boolean> reopen(LockName name) {
    return refused("cannot open locks: it keeps none shut");
  }

  /** Nothing is left over: keys expire. */
  @Override
  public CompletionStage<Integer> sweep(int budget) {
    return CompletableFuture.completedFuture(0);
  }

  /**
   * A refusal as a failed stage.
   *
   * @param why completes the sentence that begins with the store
   */
  protected final <T> CompletionStage<T> refused(String why) {
    return CompletableFuture.failedFuture(refusal(why));
  }

  /** A refusal as an exception. */
  protected final UnsupportedByStoreException refusal(String why) {
    return new UnsupportedByStoreException("Store '" + this + "' " + why + ".");
  }
}
