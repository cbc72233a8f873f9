package io.mortise.jdbc.batch;

import io.mortise.spi.SessionNotification;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells those who asked a lane what became of it. Belongs to whoever has the lane's baton. */
final class ReplyDispatcher {
  private static final Logger LOG = LoggerFactory.getLogger(ReplyDispatcher.class);

  private final TransactionRunner transactionRunner;
  private final Consumer<List<SessionNotification>> pendingNotifications;

  /**
   * @param pendingNotifications receives the news of each transaction after its commit, before the
   *     answers
   */
  ReplyDispatcher(
      TransactionRunner transactionRunner,
      Consumer<List<SessionNotification>> pendingNotifications) {
    this.transactionRunner = transactionRunner;
    this.pendingNotifications = pendingNotifications;
  }

  /** These are committed. */
  void done(List<StoreTask> tasks) {
    List<SessionNotification> sessionNotification = transactionRunner.takeNotifications();
    if (!sessionNotification.isEmpty()) {
      pendingNotifications.accept(sessionNotification);
    }
    for (StoreTask work : tasks) {
      safely(work::done);
    }
  }

  /** This one is not, or nobody knows. */
  void failed(StoreTask work, TransactionFailure transactionFailure) {
    TransactionFailure known = work.mayHaveRun ? transactionFailure.inDoubt() : transactionFailure;
    safely(() -> work.failed(known.errorKind(), known.mayHaveRun(), known.cause()));
  }

  private static void safely(Runnable answer) {
    try {
      answer.run();
    } catch (RuntimeException e) {
      LOG.warn("A receiver of answers threw an exception", e);
    }
  }
}
