package io.mortise.jdbc.batch;

import io.mortise.internal.queue.RequestQueue;
import io.mortise.jdbc.table.Database;
import io.mortise.jdbc.table.Database.ErrorKind;
import io.mortise.jdbc.table.StoreConnection;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection, and the order of the tasks on it.
 *
 * <p><b>Natural batching.</b> A thread that submits a task while there is no leader takes the lead
 * and runs it: for an embedded database a hop to another thread costs more than the task. While
 * there is a leader, other threads only queue; the tasks that have gathered become the next
 * transaction. After a few rounds, or when another process is in the way, the lead goes to the
 * executor's own thread, so that no caller serves others for long. A server is asked by the
 * executor's thread, or by a thread that waits for its answer anyway ({@link #runOnCaller}, {@link
 * BatchScheduler}); one that an interrupt would break by the former only.
 *
 * <p><b>Failures.</b> A transaction that lost against another is tried again, with jittered pauses
 * ({@link BackOff}), until the task is older than {@link io.mortise.spi.StoreProfile#maxInFlight};
 * then it is reported as not run. Before the commit is sent, every failure means "not run".
 */
public final class ConnectionExecutor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ConnectionExecutor.class);

  /** Batches that a caller does for others before it hands the lead on. */
  private static final int CALLER_ROUNDS = 4;

  /**
   * The most tasks that a thread serves for itself: one thread's, to release one lock and take the
   * next.
   */
  private static final int FEW = 2;

  /** How long a caller tries against another process before it hands the lead on. */
  private static final long CALLER_PATIENCE = Duration.ofMillis(1).toNanos();

  private final Database database;
  private final Ticker ticker;
  private final ConcurrentLinkedQueue<StoreTask> submitted = new ConcurrentLinkedQueue<>();
  private final LeaderFollower leaderFollower;
  private final TransactionRunner transactionRunner;
  private final ReplyDispatcher replyDispatcher;
  private final BatchScheduler batchScheduler;
  private volatile boolean closed;
  private volatile boolean ended;

  // Used by the leader only, which does not resign while something is in them.
  private final RequestQueue<StoreTask> queue = new RequestQueue<>();
  private List<StoreTask> batch = new ArrayList<>();
  private final BlockedRowQueue blockedRows;

  /**
   * How many tasks were served at a time lately. While the executor's thread wakes, others gather:
   * a caller that serves itself at once makes batches smaller, and pays more than it gains.
   */
  private volatile int crowd;

  /**
   * @param transactionLock held while a transaction runs, so that executors of one file queue
   *     instead of colliding
   * @param pendingNotifications receives the notifications of each transaction after its commit,
   *     before the answers
   */
  public ConnectionExecutor(
      String name,
      Database database,
      Ticker ticker,
      ReentrantLock transactionLock,
      Consumer<List<SessionNotification>> pendingNotifications) {
    this.database = database;
    this.ticker = ticker;
    this.blockedRows = new BlockedRowQueue(ticker);
    this.leaderFollower = new LeaderFollower(name, new ExecutorThreadTask());
    this.transactionRunner = new TransactionRunner(database, ticker, transactionLock);
    this.replyDispatcher = new ReplyDispatcher(transactionRunner, pendingNotifications);
    this.batchScheduler =
        new BatchScheduler(
            database, ticker, transactionRunner, replyDispatcher, blockedRows, () -> closed);
  }

  /** Does without a connection while the server has none left for the other one. */
  public void yieldsTo(ConnectionExecutor first) {
    transactionRunner.yieldsWhile(first::lacksConnection);
    // At the next task it gives its own up.
    first.transactionRunner.onLack(() -> submit(StoreTask.ValueTask.single(current -> true)));
  }

  /** Whether the server had no connection left for it at the last try, a moment ago. */
  public boolean lacksConnection() {
    return transactionRunner.lacksConnection();
  }

  public void submit(StoreTask task) {
    enqueue(task);
    if (leaderFollower.tryLead()) {
      workOr(leaderFollower::offerLead);
    } else {
      leaderFollower.expedite();
    }
  }

  /** As {@link #submit}, for a task that nobody waits for: it may travel with the next one. */
  public void submitLater(StoreTask task) {
    task.isDeferrable = true;
    enqueue(task);
    if (leaderFollower.tryLead()) {
      workOr(leaderFollower::offerLeadLater);
    }
  }

  private void workOr(Runnable offer) {
    if (isForCaller()) {
      drain(true);
    } else if (crowd > FEW) {
      leaderFollower.handToThread();
    } else {
      offer.run();
    }
  }

  private void enqueue(StoreTask task) {
    task.since = ticker.nanos();
    submitted.add(task);
  }

  /** To be asked by the leader: until the executor is closed, its thread is there. */
  private boolean isForCaller() {
    return database.callerRuns() || closed;
  }

  /**
   * Has a thread that waits for its answer run its own task, if no others are queued. May block for
   * as long as a request may take. Never connects, and never retries a task whose row is locked:
   * that is for the executor's thread.
   */
  public void runOnCaller() {
    if (!database.callerHelps() || !leaderFollower.tryLeadAsCaller()) {
      return;
    }
    if (!isQuick()) {
      leaderFollower.handToThread();
      return;
    }
    transactionRunner.connects(false);
    try {
      serveAll();
    } finally {
      transactionRunner.connects(true);
      leaderFollower.endCallerLead();
      sort();
      if (!queue.isEmpty() || !batch.isEmpty()) {
        leaderFollower.handToThread();
      } else {
        leaderFollower.resign();
        if (!submitted.isEmpty() && leaderFollower.tryLead()) {
          leaderFollower.handToThread();
        } else if (!blockedRows.isEmpty()) {
          leaderFollower.wakeThread();
        }
      }
    }
  }

  private boolean isQuick() {
    if (closed || !transactionRunner.isFresh() || !blockedRows.isEmpty() || !batch.isEmpty()) {
      return false;
    }
    sort();
    StoreTask next;
    while (batch.size() <= FEW && (next = queue.poll()) != null) {
      batch.add(next);
    }
    return !batch.isEmpty() && batch.size() <= FEW;
  }

  @SuppressWarnings("ThreadPriorityCheck") // A yield that does nothing costs a fuller batch only.
  private void drain(boolean caller) {
    for (int round = 0; ; round++) {
      if (batch.isEmpty() && !gather()) {
        leaderFollower.resign();
        if (submitted.isEmpty() || !leaderFollower.tryLead()) {
          return;
        }
        continue;
      }
      if ((caller && round == CALLER_ROUNDS && !closed) || !execute(caller)) {
        leaderFollower.handToThread();
        return;
      }
      if (!caller && database.callerRuns()) {
        // Threads that the batch has woken ask again at once, and share the next transaction.
        Thread.yield();
      }
    }
  }

  private void sort() {
    StoreTask next;
    while ((next = submitted.poll()) != null) {
      queue.add(next.request(), next);
    }
  }

  private boolean gather() {
    sort();
    boolean retries = !blockedRows.isEmpty() && (closed || blockedRows.nanosLeft() <= 0);
    if (retries) {
      blockedRows.moveTo(batch);
    }
    int most = batch.isEmpty() ? database.deferredBatch() : database.batch();
    StoreTask next;
    while ((next = queue.peek()) != null) {
      // A task that is waited for travels with few others.
      most = next.isDeferrable ? most : database.batch();
      if (batch.size() >= most) {
        break;
      }
      queue.poll();
      if (blockedRows.blocks(next)) {
        blockedRows.add(next);
      } else {
        batch.add(next);
      }
    }
    if (retries) {
      RequestQueue<StoreTask> ordered = new RequestQueue<>();
      batch.forEach(task -> ordered.add(task.request(), task));
      batch.replaceAll(task -> Objects.requireNonNull(ordered.poll()));
    }
    return !batch.isEmpty();
  }

  /** Does the batch, on a server. */
  private void serveAll() {
    List<StoreTask> tasks = batch;
    batch = new ArrayList<>();
    crowd = Math.max(tasks.size(), crowd / 2);
    batchScheduler.serve(tasks);
  }

  /** Does the batch; false if a caller should not wait for the others that are in the way. */
  private boolean execute(boolean caller) {
    if (!database.callerRuns()) {
      serveAll();
      return true;
    }
    long began = ticker.nanos();
    long oldest = began;
    for (StoreTask task : batch) {
      oldest = task.since - oldest < 0 ? task.since : oldest;
    }
    long retryTimeout = database.retryTimeout().toNanos();
    for (int tries = 0; ; tries++) {
      TransactionFailure transactionFailure =
          closed ? TransactionFailure.closed(database) : transactionRunner.attempt(batch);
      if (transactionFailure == null) {
        List<StoreTask> finished = batch;
        batch = new ArrayList<>();
        replyDispatcher.done(finished);
        return true;
      }
      long now = ticker.nanos();
      if (transactionFailure.errorKind() == ErrorKind.BUSY
          && now - oldest < retryTimeout
          && !closed) {
        if (caller && now - began > CALLER_PATIENCE) {
          return false;
        }
        BackOff.pause(tries);
        continue;
      }
      List<StoreTask> failed = batch;
      batch = new ArrayList<>();
      fail(failed, transactionFailure);
      return true;
    }
  }

  private void fail(List<StoreTask> failed, TransactionFailure transactionFailure) {
    boolean each =
        failed.size() > 1
            && !transactionFailure.mayHaveRun()
            && transactionFailure.errorKind() != ErrorKind.BROKEN;
    for (StoreTask task : failed) {
      // One of them may be the cause: each on its own.
      TransactionFailure own = each ? transactionRunner.attempt(List.of(task)) : transactionFailure;
      if (own == null) {
        replyDispatcher.done(List.of(task));
      } else {
        replyDispatcher.failed(task, own);
      }
    }
  }

  private final class ExecutorThreadTask implements LeaderFollower.LeaderTask {
    @Override
    public void work() {
      drain(false);
    }

    @Override
    public long nanosLeft() {
      return blockedRows.isEmpty() ? Long.MAX_VALUE : blockedRows.nanosLeft();
    }

    @Override
    public boolean isOver() {
      return ended;
    }
  }

  private String display() {
    return database.profile().display();
  }

  /** Fails the queued tasks, waits (bounded) for the running one, and closes the connection. */
  @Override
  public void close() {
    closed = true;
    CloseTask last = new CloseTask();
    submit(last);
    last.await();
    leaderFollower.wakeThread();
  }

  private final class CloseTask extends StoreTask {
    private final CountDownLatch latch = new CountDownLatch(1);

    @Override
    public void run(StoreConnection current) {}

    @Override
    public void done() {
      close();
    }

    @Override
    public void failed(ErrorKind errorKind, boolean mayHaveRun, RuntimeException cause) {
      close();
    }

    private void close() {
      transactionRunner.end();
      ended = true;
      latch.countDown();
    }

    void await() {
      try {
        if (!latch.await(database.profile().maxInFlight().toSeconds() + 1, TimeUnit.SECONDS)) {
          log.warn("Store '{}' did not finish its last request in time", display());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
