package io.mortise.jdbc;

import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.News;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection and the order of what is done on it.
 *
 * <p><b>Natural batching.</b> Whoever hands in work while the lane is idle gets the baton and does
 * it on its own thread: for an embedded database a hop to another thread costs more than the work.
 * While one has the baton, others only queue; what has gathered becomes the next transaction. After
 * a few rounds, or when another process is in the way, the baton goes to the lane's own thread, so
 * that nobody serves others for long. A server is asked by the lane's thread, or by a thread that
 * waits for its answer anyway ({@link #help}, {@link Rounds}); one that an interrupt would break by
 * the former only.
 *
 * <p><b>Failures.</b> A transaction that lost against another is tried again, with jittered pauses
 * ({@link BackOff}), until the work is older than {@link io.mortise.spi.StoreProfile#maxInFlight};
 * then it is reported as not run. Before the commit is sent, every failure means "not run".
 */
final class Lane implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  /** Batches that a caller does for others before it hands the baton on. */
  private static final int CALLER_ROUNDS = 4;

  /**
   * What a thread that serves itself does: that of one, to give one lock back and take the next.
   */
  private static final int FEW = 2;

  /** How long a caller tries against another process before it hands the baton on. */
  private static final long CALLER_PATIENCE = Duration.ofMillis(1).toNanos();

  private final Database database;
  private final ConcurrentLinkedQueue<Work> queue = new ConcurrentLinkedQueue<>();
  private final Baton baton;
  private final Transactor transactor;
  private final Answers answers;
  private final Rounds rounds;
  private volatile boolean closed;
  private volatile boolean ended;

  // Belong to whoever has the baton.
  private List<Work> batch = new ArrayList<>();
  private final SetAside aside = new SetAside();

  /**
   * How many were served at a time lately. While the lane's thread wakes, others gather: who serves
   * himself at once makes batches smaller, and pays more than he gains.
   */
  private volatile int crowd;

  /**
   * @param turn held while a transaction runs, so that lanes to one file queue instead of colliding
   * @param told receives the news of each transaction after its commit, before the answers
   */
  Lane(String name, Database database, ReentrantLock turn, Consumer<List<News>> told) {
    this.database = database;
    this.baton = new Baton(name, new ThreadsDuty());
    this.transactor = new Transactor(database, turn);
    this.answers = new Answers(transactor, told);
    this.rounds = new Rounds(database, transactor, answers, aside, () -> closed);
  }

  void submit(Work work) {
    queue.add(work);
    if (!baton.take()) {
      baton.hurry();
    } else if (isForCaller()) {
      drain(true);
    } else if (crowd > FEW) {
      baton.handOver();
    } else {
      baton.layDown();
    }
  }

  /** As {@link #submit}, for what nobody waits for: it may travel with what comes next. */
  void submitLater(Work work) {
    queue.add(work);
    if (baton.take()) {
      if (isForCaller()) {
        drain(true);
      } else if (crowd > FEW) {
        baton.handOver();
      } else {
        baton.layDownForLater();
      }
    }
  }

  /** To be asked with the baton in hand: until it is closed, the lane's thread is there. */
  private boolean isForCaller() {
    return database.callerRuns() || closed;
  }

  /**
   * A thread that waits for what it has asked for does it itself, if that is all that there is to
   * do. It may be kept for as long as a request may take. Never connects, and never tries again
   * what somebody is in the way of: that is for the lane's thread.
   */
  void help() {
    if (!database.callerHelps() || !baton.borrow()) {
      return;
    }
    if (!isQuick()) {
      baton.handOver();
      return;
    }
    transactor.connects(false);
    try {
      serveAll();
    } finally {
      transactor.connects(true);
      baton.giveBack();
      if (!queue.isEmpty() || !batch.isEmpty()) {
        baton.handOver();
      } else {
        baton.drop();
        if (!queue.isEmpty() && baton.take()) {
          baton.handOver();
        } else if (!aside.isEmpty()) {
          baton.nudge();
        }
      }
    }
  }

  private boolean isQuick() {
    if (closed || !transactor.isFresh() || !aside.isEmpty() || !batch.isEmpty()) {
      return false;
    }
    Work next;
    while (batch.size() <= FEW && (next = queue.poll()) != null) {
      batch.add(next);
    }
    return !batch.isEmpty() && batch.size() <= FEW;
  }

  @SuppressWarnings("ThreadPriorityCheck") // A yield that does nothing costs a fuller batch only.
  private void drain(boolean caller) {
    for (int round = 0; ; round++) {
      if (batch.isEmpty() && !gather()) {
        baton.drop();
        if (queue.isEmpty() || !baton.take()) {
          return;
        }
        continue;
      }
      if ((caller && round == CALLER_ROUNDS && !closed) || !execute(caller)) {
        baton.handOver();
        return;
      }
      if (!caller && database.callerRuns()) {
        // Whom the batch has woken asks again at once, and shares the next transaction.
        Thread.yield();
      }
    }
  }

  private boolean gather() {
    if (!aside.isEmpty() && (closed || aside.nanosLeft() <= 0)) {
      aside.moveTo(batch);
    }
    Work next;
    while (batch.size() < database.batch() && (next = queue.poll()) != null) {
      if (aside.blocks(next)) {
        aside.add(next);
      } else {
        batch.add(next);
      }
    }
    return !batch.isEmpty();
  }

  /** Does the batch, on a server. */
  private void serveAll() {
    List<Work> works = batch;
    batch = new ArrayList<>();
    crowd = Math.max(works.size(), crowd / 2);
    rounds.serve(works);
  }

  /** Does the batch; false if a caller should not wait for the others that are in the way. */
  private boolean execute(boolean caller) {
    if (!database.callerRuns()) {
      serveAll();
      return true;
    }
    long began = System.nanoTime();
    long oldest = batch.get(0).since;
    long patience = database.patience().toNanos();
    for (int tries = 0; ; tries++) {
      Failure failure = closed ? Failure.closed(database) : transactor.attempt(batch);
      if (failure == null) {
        List<Work> finished = batch;
        batch = new ArrayList<>();
        answers.done(finished);
        return true;
      }
      long now = System.nanoTime();
      if (failure.trouble() == Trouble.BUSY && now - oldest < patience && !closed) {
        if (caller && now - began > CALLER_PATIENCE) {
          return false;
        }
        BackOff.pause(tries);
        continue;
      }
      List<Work> failed = batch;
      batch = new ArrayList<>();
      fail(failed, failure);
      return true;
    }
  }

  private void fail(List<Work> failed, Failure failure) {
    boolean each =
        failed.size() > 1 && !failure.mayHaveRun() && failure.trouble() != Trouble.BROKEN;
    for (Work work : failed) {
      // One of them may be the cause: each on its own.
      Failure own = each ? transactor.attempt(List.of(work)) : failure;
      if (own == null) {
        answers.done(List.of(work));
      } else {
        answers.failed(work, own);
      }
    }
  }

  private final class ThreadsDuty implements Baton.Duty {
    @Override
    public void work() {
      drain(false);
    }

    @Override
    public long nanosLeft() {
      return aside.isEmpty() ? Long.MAX_VALUE : aside.nanosLeft();
    }

    @Override
    public boolean isOver() {
      return ended;
    }
  }

  private String display() {
    return database.profile().display();
  }

  /** Fails what is left, waits for what is running (bounded), and closes the connection. */
  @Override
  public void close() {
    closed = true;
    CloseLink last = new CloseLink();
    submit(last);
    last.await();
    baton.nudge();
  }

  private final class CloseLink extends Work {
    private final CountDownLatch latch = new CountDownLatch(1);

    @Override
    void run(Link current) {}

    @Override
    void done() {
      close();
    }

    @Override
    void failed(Trouble trouble, boolean mayHaveRun, RuntimeException cause) {
      close();
    }

    private void close() {
      transactor.leave();
      ended = true;
      latch.countDown();
    }

    void await() {
      try {
        if (!latch.await(database.profile().maxInFlight().toSeconds() + 1, TimeUnit.SECONDS)) {
          LOG.warn("Store '{}' did not finish its last request in time", display());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
