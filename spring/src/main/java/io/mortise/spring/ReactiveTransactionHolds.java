package io.mortise.spring;

import io.mortise.Lease;
import java.util.List;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/**
 * The locks of one call that are held until the end of a reactive transaction around it. Loaded
 * only where Reactor and Spring's transactions are there.
 */
final class ReactiveTransactionHolds implements TransactionSynchronization {
  private final List<Hold> holds;

  private ReactiveTransactionHolds(List<Hold> holds) {
    this.holds = holds;
  }

  /** Has the subscriber's transaction use them until it ends; does nothing if there is none. */
  static Mono<Void> keepUntilCommit(List<Hold> holds) {
    return TransactionSynchronizationManager.forCurrentTransaction()
        .filter(manager -> manager.isSynchronizationActive() && manager.isActualTransactionActive())
        .doOnNext(
            manager -> {
              manager.registerSynchronization(new ReactiveTransactionHolds(holds));
              holds.forEach(Hold::retain);
            })
        .onErrorComplete(NoTransactionException.class)
        .then();
  }

  /** As {@link TransactionHolds#beforeCommit}. */
  @Override
  public Mono<Void> beforeCommit(boolean readOnly) {
    return Mono.fromRunnable(
        () -> {
          for (Hold hold : holds) {
            if (hold.lease().state() != Lease.State.RELEASED) {
              hold.lease().ensureValid();
            }
          }
        });
  }

  @Override
  public Mono<Void> afterCompletion(int status) {
    return Mono.fromFuture(() -> HeldLocks.releaseAsync(holds), true);
  }
}
