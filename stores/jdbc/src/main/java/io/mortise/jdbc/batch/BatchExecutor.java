package io.mortise.jdbc.batch;

import io.mortise.jdbc.table.ContendedRequest;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.LockRepository;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requests of different locks that travel together. Where a try fails, each of them can be served
 * alone; if some of it may have been committed, they remember that nobody knows. Used by the leader
 * of its {@link ConnectionExecutor} only.
 */
final class BatchExecutor {
  /** Steps on contended locks in one text. */
  private static final int AT_ONCE = 16;

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

  /**
   * Answers by few texts whom it can, of those that are known to be in somebody's way.
   *
   * @param left loses those that need no more
   */
  void contended(List<StoreTask> left) {
    if (left.size() < 2) {
      return;
    }
    List<StoreTask> asked = left.stream().filter(StoreTask::isContended).toList();
    for (int from = 0; asked.size() - from > 1; from += AT_ONCE) {
      left.removeAll(contendedAtOnce(asked.subList(from, Math.min(from + AT_ONCE, asked.size()))));
    }
  }

  private Set<StoreTask> contendedAtOnce(List<StoreTask> asked) {
    List<Request> requests =
        asked.stream().map(task -> Objects.requireNonNull(task.request())).toList();
    List<ContendedRequest> contendedRequests = new ArrayList<>();
    BatchFailure batchFailure =
        attempt(storeConnection -> contendedRequests.addAll(storeConnection.contended(requests)));
    Set<StoreTask> over = new HashSet<>();
    if (batchFailure != null) {
      asked.stream().filter(batchFailure::isOver).forEach(over::add);
      return over;
    }
    List<StoreTask> answered = new ArrayList<>();
    for (int i = 0; i < contendedRequests.size(); i++) {
      asked.get(i).take(contendedRequests.get(i));
      if (contendedRequests.get(i).isDone()) {
        answered.add(asked.get(i));
      }
    }
    replyDispatcher.done(answered);
    over.addAll(answered);
    return over;
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

  /** What became of requests that travelled together in vain. */
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
