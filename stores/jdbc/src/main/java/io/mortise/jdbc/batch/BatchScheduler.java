package io.mortise.jdbc.batch;

import io.mortise.LockName;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.spi.Request;
import io.mortise.spi.time.Ticker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves the tasks that have gathered at a {@link ConnectionExecutor}, on a server. Requests with a
 * fast path share one statement ({@link LockRepository#executeBatch}); all others, and those that
 * the statement left out, get a transaction each. Of several requests on one lock, those behind the
 * first share a transaction where the connection takes several statements in one text; elsewhere
 * each of them would lengthen it by its round trips. A task whose row another transaction has
 * locked is set aside and retried later, with the tasks of the same lock behind it, so that a slow
 * row delays no other lock. Used by the leader of that executor only.
 */
final class BatchScheduler {
  /** Requests on one lock in one transaction. */
  private static final int ON_LOCK = 64;

  private final Database database;
  private final Ticker ticker;
  private final TransactionRunner transactionRunner;
  private final ReplyDispatcher replyDispatcher;
  private final BlockedRowQueue blockedRows;
  private final BooleanSupplier closed;
  private final BatchExecutor batchExecutor;

  /** Why nobody of this round can connect. */
  private @Nullable TransactionFailure outage;

  /**
   * @param closed whether nothing is to be begun any more
   */
  BatchScheduler(
      Database database,
      Ticker ticker,
      TransactionRunner transactionRunner,
      ReplyDispatcher replyDispatcher,
      BlockedRowQueue blockedRows,
      BooleanSupplier closed) {
    this.database = database;
    this.ticker = ticker;
    this.transactionRunner = transactionRunner;
    this.replyDispatcher = replyDispatcher;
    this.blockedRows = blockedRows;
    this.closed = closed;
    this.batchExecutor =
        new BatchExecutor(
            doing ->
                closed.getAsBoolean()
                    ? TransactionFailure.closed(database)
                    : unlessOut(() -> transactionRunner.attemptStatement(doing)),
            replyDispatcher);
  }

  /** Answers all of them, or sets them aside. */
  void serve(List<StoreTask> tasks) {
    boolean restedBefore = !blockedRows.isEmpty();
    outage = null;
    if (tasks.size() == 1 && !tasks.get(0).wasBlocked) {
      serve(tasks.get(0));
    } else {
      serveInRounds(tasks);
    }
    blockedRows.roundEnds(restedBefore);
  }

  private void serveInRounds(List<StoreTask> tasks) {
    List<StoreTask> behind = new ArrayList<>();
    serveFirst(tasks, behind);
    if (!transactionRunner.takesSeveral()) {
      behind.forEach(this::serve);
      return;
    }
    // Ends and adjustments commit without the acquires behind them (ends-before-acquires).
    int acquires = behind.size();
    while (acquires > 0 && isAcquire(behind.get(acquires - 1))) {
      acquires--;
    }
    serveByLock(behind.subList(0, acquires));
    serveByLock(behind.subList(acquires, behind.size()));
  }

  private static boolean isAcquire(StoreTask task) {
    return task.request() instanceof Request.Acquire;
  }

  private void serveByLock(List<StoreTask> tasks) {
    Map<LockName, List<StoreTask>> byLock = new LinkedHashMap<>();
    for (StoreTask task : tasks) {
      LockName name = Objects.requireNonNull(task.request()).name();
      byLock.computeIfAbsent(name, unused -> new ArrayList<>()).add(task);
    }
    byLock.values().forEach(this::serveOnLock);
  }

  /** Serves requests on one lock, of which there are many when many of this process wait for it. */
  private void serveOnLock(List<StoreTask> tasks) {
    for (int from = 0; from < tasks.size(); from += ON_LOCK) {
      List<StoreTask> some = tasks.subList(from, Math.min(from + ON_LOCK, tasks.size()));
      if (some.size() == 1 || closed.getAsBoolean() || blockedRows.blocks(some.get(0))) {
        some.forEach(this::serve);
        continue;
      }
      TransactionFailure failure = unlessOut(() -> transactionRunner.attemptOnLock(some));
      if (failure == null) {
        replyDispatcher.done(some);
      } else if (failure.errorKind() == ErrorKind.BUSY || failure.mayHaveRun()) {
        for (StoreTask task : some) {
          setAsideOrFail(task, failure);
        }
      } else {
        // One of them may be the cause.
        some.forEach(this::serve);
      }
    }
  }

  /**
   * Without a connection it does not try for each task: a try may take as long as an answer may.
   */
  private @Nullable TransactionFailure unlessOut(Supplier<@Nullable TransactionFailure> attempt) {
    TransactionFailure known = outage;
    if (known != null) {
      return known;
    }
    TransactionFailure transactionFailure = attempt.get();
    if (transactionFailure != null
        && transactionFailure.errorKind() != ErrorKind.BUSY
        && !transactionFailure.mayHaveRun()
        && !transactionRunner.isConnected()) {
      outage = transactionFailure;
    }
    return transactionFailure;
  }

  /**
   * Serves one task of each lock, the first, and the acquire behind it if that one is a release.
   *
   * @param behind gets the others, which may depend on it
   */
  private void serveFirst(List<StoreTask> tasks, List<StoreTask> behind) {
    List<BatchEntry> first = new ArrayList<>(tasks.size());
    Map<LockName, BatchEntry> last = new HashMap<>();
    for (StoreTask task : tasks) {
      if (blockedRows.blocks(task)) {
        blockedRows.add(task);
        continue;
      }
      Request request = task.request();
      BatchEntry before = request == null ? null : last.get(request.name());
      if (before == null) {
        BatchEntry batchEntry = new BatchEntry(task);
        first.add(batchEntry);
        if (request != null) {
          last.put(request.name(), batchEntry);
        }
      } else if (!before.takesIn(task)) {
        before.isFollowed = true;
        behind.add(task);
      }
    }
    first.removeIf(this::isStillLocked);
    batchExecutor.together(first);
    List<StoreTask> left = new ArrayList<>();
    // Releases go first, as others wait for them: a round trip may take long, and each of
    // these may take several.
    for (BatchEntry batchEntry : first) {
      if (!batchEntry.answered && batchEntry.precedingRelease != null) {
        left.add(batchEntry.precedingRelease);
      } else if (!batchEntry.answered && batchEntry.isRelease()) {
        left.add(batchEntry.task);
      }
    }
    for (BatchEntry batchEntry : first) {
      if (!batchEntry.answered && !batchEntry.isRelease()) {
        left.add(batchEntry.task);
      }
    }
    left.forEach(this::serve);
  }

  /** Checks a row that was locked, before the task that wants it shares a statement with others. */
  private boolean isStillLocked(BatchEntry batchEntry) {
    StoreTask oldest =
        batchEntry.precedingRelease == null ? batchEntry.task : batchEntry.precedingRelease;
    Request request = oldest.request();
    if (!oldest.wasBlocked || request == null || closed.getAsBoolean()) {
      return false;
    }
    TransactionFailure transactionFailure =
        unlessOut(
            () ->
                transactionRunner.attemptRead(
                    storeConnection -> storeConnection.repository.ensureUnlocked(request.name())));
    if (transactionFailure == null || transactionFailure.errorKind() != ErrorKind.BUSY) {
      return false;
    }
    setAsideOrFail(oldest, transactionFailure);
    if (batchEntry.precedingRelease != null) {
      setAsideOrFail(batchEntry.task, transactionFailure);
    }
    return true;
  }

  private void serve(StoreTask task) {
    if (blockedRows.blocks(task)) {
      blockedRows.add(task);
      return;
    }
    TransactionFailure transactionFailure =
        closed.getAsBoolean()
            ? TransactionFailure.closed(database)
            : unlessOut(() -> transactionRunner.attempt(List.of(task)));
    if (transactionFailure == null) {
      replyDispatcher.done(List.of(task));
    } else {
      setAsideOrFail(task, transactionFailure);
    }
  }

  private void setAsideOrFail(StoreTask task, TransactionFailure transactionFailure) {
    if (transactionFailure.errorKind() == ErrorKind.BUSY
        && !closed.getAsBoolean()
        && ticker.nanos() - task.since < database.retryTimeout().toNanos()) {
      task.mayHaveRun |= transactionFailure.mayHaveRun();
      blockedRows.add(task);
    } else {
      replyDispatcher.failed(task, transactionFailure);
    }
  }
}
