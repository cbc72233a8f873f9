package io.mortise.spring;

import io.mortise.Lease;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/**
 * The locks of one call that are held until the end of a reactive transaction, which is around the
 * call or between the lock and the method's body. Loaded only with Reactor and Spring's
 * transactions.
 */
final class ReactiveTransactionHolds implements TransactionSynchronization {
  private final List<Hold> holds;
  private final boolean kept;
  private final AtomicBoolean released = new AtomicBoolean();

  private ReactiveTransactionHolds(List<Hold> holds, boolean kept) {
    this.holds = holds;
    this.kept = kept;
  }

  /**
   * Has the caller's transaction use them until it ends, or marks it as one that does not; does
   * nothing if there is none.
   */
  static Mono<Void> inCaller(List<Hold> holds, boolean kept) {
    return active().flatMap(manager -> join(manager, holds, kept));
  }

  /**
   * Has the transaction that began in this call use them until it ends; does nothing if there is
   * none. A subscription that is cancelled during the commit ends at once, and the commit goes on.
   */
  static Mono<Void> inCall(List<Hold> holds) {
    return active()
        .filter(
            manager ->
                manager.getSynchronizations().stream()
                    .noneMatch(
                        each ->
                            each instanceof ReactiveTransactionHolds known && known.holds == holds))
        .flatMap(manager -> join(manager, holds, true));
  }

  private static Mono<TransactionSynchronizationManager> active() {
    return TransactionSynchronizationManager.forCurrentTransaction()
        .filter(manager -> manager.isSynchronizationActive() && manager.isActualTransactionActive())
        .onErrorComplete(NoTransactionException.class);
  }

  /**
   * A subscription that is cancelled meanwhile has its transaction rolled back on another thread,
   * which may have listed its synchronizations before this one was added. The rollback follows the
   * arrival of the cancellation here, so a late registration sees it.
   */
  private static Mono<Void> join(
      TransactionSynchronizationManager manager, List<Hold> holds, boolean kept) {
    return Mono.create(
        sink -> {
          AtomicBoolean cancelled = new AtomicBoolean();
          sink.onCancel(() -> cancelled.set(true));
          ReactiveTransactionHolds added = new ReactiveTransactionHolds(holds, kept);
          if (kept) {
            // Retained first: a transaction that ends in between must not release more than it
            // retained.
            holds.forEach(Hold::retain);
          }
          try {
            manager.registerSynchronization(added);
          } catch (RuntimeException | Error e) {
            var unused = added.release();
            if (!cancelled.get()) {
              sink.error(e);
            }
            return;
          }
          if (cancelled.get()) {
            var unused = added.release();
          }
          sink.success();
        });
  }

  /** As {@link TransactionHolds#beforeCommit}. */
  @Override
  public Mono<Void> beforeCommit(boolean readOnly) {
    return Mono.fromRunnable(this::ensureValid);
  }

  private void ensureValid() {
    if (!kept) {
      return;
    }
    for (Hold hold : holds) {
      if (hold.lease().state() != Lease.State.RELEASED) {
        hold.lease().ensureValid();
      }
    }
  }

  @Override
  public Mono<Void> afterCompletion(int status) {
    return Mono.fromFuture(this::release, true);
  }

  /** Ends the transaction's use of them, once. */
  private CompletableFuture<Void> release() {
    return kept && released.compareAndSet(false, true)
        ? HeldLocks.releaseAsync(holds)
        : CompletableFuture.completedFuture(null);
  }
}
