package io.mortise.spring;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Transactions without resources, with a record of their events in order. */
final class RecordingTransactionManager extends AbstractPlatformTransactionManager {
  private static final long serialVersionUID = 1L;
  private static final ThreadLocal<Object> ACTIVE = new ThreadLocal<>();

  final transient List<String> events = new CopyOnWriteArrayList<>();
  private final transient SpringApp.Probe probe;

  /**
   * Evaluates a probe at each event.
   *
   * @param probe returns the text to record beside the event
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
    return ACTIVE.get() != null;
  }

  @Override
  protected void doBegin(Object transaction, TransactionDefinition definition) {
    ACTIVE.set(transaction);
    event("begin");
  }

  @Override
  protected Object doSuspend(Object transaction) {
    Object before = ACTIVE.get();
    ACTIVE.remove();
    return before;
  }

  @Override
  protected void doResume(Object transaction, Object suspended) {
    ACTIVE.set(suspended);
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
    ACTIVE.remove();
  }
}
