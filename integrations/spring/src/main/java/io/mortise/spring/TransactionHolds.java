package io.mortise.spring;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The locks that are held until the end of one transaction of a thread, in their order. Loaded only
 * with Spring's transactions.
 */
final class TransactionHolds implements TransactionSynchronization {
  private static final Logger log = LoggerFactory.getLogger(TransactionHolds.class);
  private static final Object KEY = TransactionHolds.class;

  private final List<Hold> holds = new ArrayList<>(2);

  /** Has this thread's transaction use them until it ends; does nothing if there is none. */
  static void keepUntilCommit(List<Hold> holds) {
    if (!TransactionSynchronizationManager.isSynchronizationActive()
        || !TransactionSynchronizationManager.isActualTransactionActive()) {
      return;
    }
    TransactionHolds mine = (TransactionHolds) TransactionSynchronizationManager.getResource(KEY);
    if (mine == null) {
      mine = new TransactionHolds();
      TransactionSynchronizationManager.registerSynchronization(mine);
      TransactionSynchronizationManager.bindResource(KEY, mine);
    }
    for (Hold hold : holds) {
      if (!mine.holds.contains(hold)) {
        hold.retain();
        mine.holds.add(hold);
        hold.keepUntilCommit();
      }
    }
  }

  @Override
  public void suspend() {
    TransactionSynchronizationManager.unbindResource(KEY);
  }

  @Override
  public void resume() {
    TransactionSynchronizationManager.bindResource(KEY, this);
  }

  /** A lost lock does not guard the pending writes: roll back. */
  @Override
  public void beforeCommit(boolean readOnly) {
    for (Hold hold : holds) {
      // The body may have handed out its lease through LockContext, to be released early.
      if (hold.lease().state() != Lease.State.RELEASED) {
        hold.lease().ensureValid();
      }
    }
  }

  @Override
  public void afterCompletion(int status) {
    TransactionSynchronizationManager.unbindResourceIfPossible(KEY);
    try {
      HeldLocks.release(holds);
    } catch (LeaseLostException e) {
      // An exception would reach no caller: the outcome of the transaction stands.
      log.error(
          "A lock that was to be held until the end of a transaction was lost before (committed={}).",
          status == STATUS_COMMITTED,
          e);
    } finally {
      Hold.dropEnded();
    }
  }
}
