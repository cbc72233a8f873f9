package io.mortise.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.BaseSubscriber;

/** Locks that join a transaction while it is being rolled back. */
class ReactiveTransactionHoldsTest {
  /** The progress of the other thread when the synchronization is added. */
  enum Rollback {
    /** It has listed the synchronizations to call at the end. */
    HAS_LISTED,
    /** It accepts no more. */
    HAS_ENDED
  }

  /** Runs an action after its elements were visited. */
  private static final class Holds extends ArrayList<Hold> {
    private static final long serialVersionUID = 1L;

    private transient Runnable then = () -> {};

    @Override
    public void forEach(Consumer<? super Hold> action) {
      super.forEach(action);
      then.run();
    }
  }

  @ParameterizedTest
  @EnumSource
  void givenSubscriptionThatIsCancelled_whenItsTransactionEndsBeforeTheLocksJoin_thenTheyAreFree(
      Rollback rollback) throws Exception {
    try (LockClient locks = LockClient.connect("mem:rolled-back-" + rollback)) {
      Lease lease = locks.lock("x").acquire();
      Hold hold = new Hold(null, false, lease);
      Holds holds = new Holds();
      holds.add(hold);
      List<TransactionSynchronization> listed = new ArrayList<>();
      List<TransactionSynchronizationManager> managers = new ArrayList<>();
      BaseSubscriber<Void> call = new BaseSubscriber<>() {};
      holds.then =
          () -> {
            call.cancel();
            TransactionSynchronizationManager manager = managers.get(0);
            listed.addAll(manager.getSynchronizations());
            if (rollback == Rollback.HAS_ENDED) {
              manager.clearSynchronization();
            }
          };
      TransactionSynchronizationManager.forCurrentTransaction()
          .flatMap(
              manager -> {
                managers.add(manager);
                manager.initSynchronization();
                manager.setActualTransactionActive(true);
                return ReactiveTransactionHolds.inCaller(holds, true);
              })
          .contextWrite(TransactionContextManager.createTransactionContext())
          .subscribe(call);
      listed.forEach(
          each -> each.afterCompletion(TransactionSynchronization.STATUS_ROLLED_BACK).block());
      hold.releaseAsync().join();
      assertThat(lease.state()).isEqualTo(Lease.State.RELEASED);
    }
  }
}
