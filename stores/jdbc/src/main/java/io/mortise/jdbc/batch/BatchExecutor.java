package io.mortise.jdbc.batch;

import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.spi.Reply;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Serves requests on different locks by one statement. After a failure each of them can be served
 * alone; if parts may have been committed, the requests are marked as possibly executed. Used by
 * the leader of its {@link ConnectionExecutor} only.
 */
final class BatchExecutor {
  private final TransactionAttempt transactionAttempt;
  private final ReplyDispatcher replyDispatcher;

  /** Whether some of the last try in vain may have been committed. */
  private boolean partlyDone;

  BatchExecutor(TransactionAttempt transactionAttempt, ReplyDispatcher replyDispatcher) {
    this.transactionAttempt = transactionAttempt;
    this.replyDispatcher = replyDispatcher;
  }

  /** Does something once on the executor's connection. */
  @FunctionalInterface
  interface TransactionAttempt {
    /** Returns null if it was done. */
    @Nullable TransactionFailure attempt(TransactionRunner.ConnectionAction doing);
  }

  /** Answers by one statement, or one flush, whom it can. */
  void together(List<BatchEntry> batchEntries) {
    List<BatchEntry> asked = new ArrayList<>(batchEntries.size());
    List<LockRepository.BatchedRequest> batchedRequests = new ArrayList<>(batchEntries.size());
    for (BatchEntry batchEntry : batchEntries) {
      if (batchEntry.hasFastPath) {
        asked.add(batchEntry);
        batchedRequests.add(batchEntry.ask());
      }
    }
    if (asked.isEmpty() || (asked.size() == 1 && asked.get(0).precedingRelease == null)) {
      return;
    }
    List<@Nullable Reply> replies = new ArrayList<>();
    BatchFailure batchFailure =
        attempt(
            storeConnection ->
                replies.addAll(storeConnection.repository.applyBatch(batchedRequests)));
    List<StoreTask> answered = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      BatchEntry batchEntry = asked.get(i);
      StoreTask precedingRelease = batchEntry.precedingRelease;
      if (batchFailure != null) {
        batchEntry.answered = batchFailure.isOver(batchEntry.task);
        if (precedingRelease != null) {
          batchFailure.isOver(precedingRelease);
        }
        continue;
      }
      Reply reply = replies.get(i);
      batchEntry.answered = reply != null;
      if (precedingRelease != null) {
        answered.addAll(
            taken(
                precedingRelease,
                reply == null
                    ? null
                    : LockRepository.released(batchedRequests.get(i).releasing())));
      }
      answered.addAll(taken(batchEntry.task, reply));
    }
    replyDispatcher.done(answered);
  }

  private static List<StoreTask> taken(StoreTask task, @Nullable Reply reply) {
    if (reply == null) {
      task.omittedFromBatch();
      return List.of();
    }
    task.take(reply);
    return List.of(task);
  }

  private @Nullable BatchFailure attempt(TransactionRunner.ConnectionAction doing) {
    partlyDone = false;
    TransactionFailure transactionFailure =
        transactionAttempt.attempt(
            storeConnection -> {
              try {
                doing.on(storeConnection);
              } catch (SQLException e) {
                partlyDone = storeConnection.repository.mayBePartlyDone();
                throw e;
              }
            });
    return transactionFailure == null ? null : new BatchFailure(transactionFailure, partlyDone);
  }

  /** A failed try to serve several requests by one statement. */
  private final class BatchFailure {
    private final TransactionFailure transactionFailure;
    private final boolean partly;

    BatchFailure(TransactionFailure transactionFailure, boolean partly) {
      this.transactionFailure = transactionFailure;
      this.partly = partly;
    }

    /**
     * Whether one of them needs no more, since it is told that nobody knows. One that only has to
     * wait for a connection is tried again.
     */
    boolean isOver(StoreTask task) {
      task.mayHaveRun |= partly || transactionFailure.mayHaveRun();
      boolean over =
          transactionFailure.mayHaveRun() && transactionFailure.errorKind() != ErrorKind.BUSY;
      if (over) {
        replyDispatcher.failed(task, transactionFailure);
      }
      return over;
    }
  }
}
