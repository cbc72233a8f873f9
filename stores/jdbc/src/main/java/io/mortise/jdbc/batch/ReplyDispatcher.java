package io.mortise.jdbc.batch;

import io.mortise.spi.SessionNotification;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Completes the tasks of a {@link ConnectionExecutor}. Used by its leader only. */
final class ReplyDispatcher {
  private static final Logger log = LoggerFactory.getLogger(ReplyDispatcher.class);

  private final TransactionRunner transactionRunner;
  private final Consumer<List<SessionNotification>> pendingNotifications;

  /**
   * @param pendingNotifications receives the notifications of each transaction after its commit,
   *     before the answers
   */
  ReplyDispatcher(
      TransactionRunner transactionRunner,
      Consumer<List<SessionNotification>> pendingNotifications) {
    this.transactionRunner = transactionRunner;
    this.pendingNotifications = pendingNotifications;
  }

  /** These are committed. */
  void done(List<StoreTask> tasks) {
    List<SessionNotification> notifications = transactionRunner.takeNotifications();
    if (!notifications.isEmpty()) {
      safely(() -> pendingNotifications.accept(notifications));
    }
    for (StoreTask task : tasks) {
      safely(task::done);
    }
  }

  /** This one is not, or nobody knows. */
  void failed(StoreTask task, TransactionFailure transactionFailure) {
    TransactionFailure known = task.mayHaveRun ? transactionFailure.inDoubt() : transactionFailure;
    safely(() -> task.failed(known.errorKind(), known.mayHaveRun(), known.cause()));
  }

  private static void safely(Runnable answer) {
    try {
      answer.run();
    } catch (RuntimeException | Error e) {
      // No thread for a callback, perhaps. The leader must go on.
      log.warn("A receiver of answers threw an exception", e);
    }
  }
}
