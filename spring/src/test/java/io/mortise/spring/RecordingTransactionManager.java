package io.mortise.spring;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Transactions over nothing, with a record of what was done when. */
final class RecordingTransactionManager extends AbstractPlatformTransactionManager {
  private static final long serialVersionUID = 1L;

  final transient List<String> events = new CopyOnWriteArrayList<>();
  final transient ThreadLocal<Object> active = new ThreadLocal<>();
  private final transient SpringApp.Probe probe;

  /**
   * With a question that is answered at each event.
   *
   * @param probe what to write beside the event
   */
  RecordingTransactionManager(SpringApp.Probe probe) {
    this.probe = probe;
  }

  private void event(String what) {
    events.add(what + probe.state());
  }

  @Override
  protected Object doGetTransaction() {
    return new Object();
  }

  @Override
  protected boolean isExistingTransaction(Object transaction) {
    return active.get() != null;
  }

  @Override
  protected void doBegin(Object transaction, TransactionDefinition definition) {
    active.set(transaction);
    event("begin");
  }

  @Override
  protected Object doSuspend(Object transaction) {
    Object before = active.get();
    active.remove();
    return before;
  }

  @Override
  protected void doResume(Object transaction, Object suspended) {
    active.set(suspended);
  }

  @Override
  protected void doCommit(DefaultTransactionStatus status) {
    event("commit");
  }

  @Override
  protected void doRollback(DefaultTransactionStatus status) {
    event("rollback");
  }

  @Override
  protected void doSetRollbackOnly(DefaultTransactionStatus status) {}

  @Override
  protected void doCleanupAfterCompletion(Object transaction) {
    active.remove();
  }
}
