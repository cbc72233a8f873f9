package io.mortise.jdbc;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.LockName;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection and the order of what is done on it.
 *
 * <p><b>Natural batching.</b> Whoever hands in work while the lane is idle gets the baton and does
 * it on its own thread: for an embedded database a hop to another thread costs more than the work.
 * While one has the baton, others only queue; what has gathered becomes the next transaction. After
 * a few rounds, or when another process is in the way, the baton goes to the lane's own thread, so
 * that nobody serves others for long. A database in another process, or one that an interrupt would
 * break, is always served by the lane's thread.
 *
 * <p><b>On a server</b> the requests that one statement may answer travel together (see {@link
 * Rows#together}); every other one, and whom that statement left out, gets a transaction of its
 * own. One whose row somebody else has locked is set aside and tried again later, and those of the
 * same lock behind it, so that a slow row holds up nobody else.
 *
 * <p><b>Failures.</b> A transaction that lost against another is tried again, with short jittered
 * pauses, until the work is older than {@link io.mortise.spi.StoreProfile#maxInFlight}; then it is
 * reported as not run. Before the commit is sent, every failure means "not run".
 */
final class Lane implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

  /** Batches that a caller does for others before it hands the baton on. */
  private static final int CALLER_ROUNDS = 4;

  /** How long a caller tries against another process before it hands the baton on. */
  private static final long CALLER_PATIENCE = Duration.ofMillis(1).toNanos();

  private final String name;
  private final Database database;
  private final ReentrantLock turn;
  private final Consumer<List<News>> told;
  private final ConcurrentLinkedQueue<Work> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean baton = new AtomicBoolean();
  private final ReentrantLock threadGuard = new ReentrantLock();
  private volatile @Nullable Thread thread;
  private volatile boolean handedOver;
  private volatile boolean closed;
  private volatile boolean ended;

  // Belong to whoever has the baton.
  private List<Work> batch = new ArrayList<>();
  private @Nullable Link link;
  private long lastUsed;
  private final SetAside aside = new SetAside();

  /** Why nobody of this batch can connect. */
  private @Nullable Failure outage;

  /**
   * @param turn held while a transaction runs, so that lanes to one file queue instead of colliding
   * @param told receives the news of each transaction after its commit, before the answers
   */
  Lane(String name, Database database, ReentrantLock turn, Consumer<List<News>> told) {
    this.name = name;
    this.database = database;
    this.turn = turn;
    this.told = told;
  }

  void submit(Work work) {
    queue.add(work);
    if (baton.compareAndSet(false, true)) {
      // Closed is read with the baton in hand: then the lane's thread, which ends with it, is
      // there.
      if (database.callerRuns() || closed) {
        drain(true);
      } else {
        handOver();
      }
    }
  }

  private void drain(boolean caller) {
    for (int round = 0; ; round++) {
      if (batch.isEmpty() && !gather()) {
        baton.set(false);
        if (queue.isEmpty() || !baton.compareAndSet(false, true)) {
          return;
        }
        continue;
      }
      if ((caller && round == CALLER_ROUNDS && !closed) || !execute(caller)) {
        handOver();
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
    boolean restedBefore = !aside.isEmpty();
    outage = null;
    while (!works.isEmpty()) {
      List<Work> behind = new ArrayList<>();
      serveFirst(works, behind);
      works = behind;
    }
    aside.roundEnds(restedBefore);
  }

  /**
   * Serves one of each lock, the first.
   *
   * @param behind gets the others, which may depend on it
   */
  private void serveFirst(List<Work> works, List<Work> behind) {
    List<Work> first = new ArrayList<>();
    Set<LockName> names = new HashSet<>();
    for (Work work : works) {
      Request request = work.request();
      (request == null || names.add(request.name()) ? first : behind).add(work);
    }
    Set<Work> left = together(first);
    for (Work work : first) {
      if (!left.contains(work)) {
        continue;
      }
      if (aside.blocks(work)) {
        aside.add(work);
        continue;
      }
      // Who cannot connect does not try for each: that may take as long as an answer may.
      Failure known = closed ? Failure.closed(database) : outage;
      Failure failure = known != null ? known : attempt(List.of(work));
      if (failure == null) {
        finish(List.of(work));
        continue;
      }
      if (failure.trouble() == Trouble.BROKEN && link == null && !failure.mayHaveRun()) {
        outage = failure;
      }
      if (failure.trouble() == Trouble.BUSY
          && !closed
          && System.nanoTime() - work.since < database.patience().toNanos()) {
        aside.add(work);
      } else {
        safely(() -> work.failed(failure.trouble(), failure.mayHaveRun(), failure.cause()));
      }
    }
  }

  /** Answers by one statement whom it can; returns those that are left. */
  private Set<Work> together(List<Work> works) {
    Set<Work> left = new HashSet<>(works);
    List<Work> asked =
        works.stream()
            .filter(work -> work.request() != null)
            .filter(work -> LockSteps.hasFastPath(Objects.requireNonNull(work.request())))
            .toList();
    if (closed || asked.size() < 2) {
      return left;
    }
    List<@Nullable Reply> replies = new ArrayList<>();
    Failure failure =
        attempt(
            link ->
                replies.addAll(
                    link.locks.together(
                        asked.stream()
                            .map(work -> Objects.requireNonNull(work.request()))
                            .toList())),
            new boolean[] {true});
    if (failure != null && failure.mayHaveRun()) {
      asked.forEach(work -> safely(() -> work.failed(failure.trouble(), true, failure.cause())));
      asked.forEach(left::remove);
    } else if (failure == null) {
      List<Work> answered = new ArrayList<>();
      for (int i = 0; i < asked.size(); i++) {
        Reply reply = replies.get(i);
        if (reply != null) {
          asked.get(i).take(reply);
          answered.add(asked.get(i));
        }
      }
      answered.forEach(left::remove);
      finish(answered);
    }
    return left;
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
      Failure failure = closed ? Failure.closed(database) : attempt(batch);
      if (failure == null) {
        List<Work> finished = batch;
        batch = new ArrayList<>();
        finish(finished);
        return true;
      }
      long now = System.nanoTime();
      if (failure.trouble() == Trouble.BUSY && now - oldest < patience && !closed) {
        if (caller && now - began > CALLER_PATIENCE) {
          return false;
        }
        pause(tries);
        continue;
      }
      List<Work> failed = batch;
      batch = new ArrayList<>();
      fail(failed, failure);
      return true;
    }
  }

  private void finish(List<Work> finished) {
    if (link != null) {
      List<News> news = link.takeTold();
      if (!news.isEmpty()) {
        told.accept(news);
      }
    }
    for (Work work : finished) {
      safely(work::done);
    }
  }

  private void fail(List<Work> failed, Failure failure) {
    if (failed.size() > 1 && !failure.mayHaveRun() && failure.trouble() != Trouble.BROKEN) {
      // One of them may be the cause: each on its own.
      for (Work work : failed) {
        Failure own = attempt(List.of(work));
        if (own == null) {
          finish(List.of(work));
        } else {
          safely(() -> work.failed(own.trouble(), own.mayHaveRun(), own.cause()));
        }
      }
      return;
    }
    for (Work work : failed) {
      safely(() -> work.failed(failure.trouble(), failure.mayHaveRun(), failure.cause()));
    }
  }

  /** One transaction. */
  private @Nullable Failure attempt(List<Work> works) {
    boolean[] sent = {false};
    return attempt(current -> transact(current, works, sent), sent);
  }

  private interface Doing {
    void on(Link current) throws SQLException;
  }

  /**
   * @param sent whether what was sent may be committed, as long as nothing else is known
   */
  private @Nullable Failure attempt(Doing doing, boolean[] sent) {
    boolean connected = false;
    turn.lock();
    try {
      long now = System.nanoTime();
      if (now - lastUsed > database.idleLimit().toNanos()) {
        dropLink();
      }
      lastUsed = now;
      Link current = link;
      if (current == null) {
        current = database.connect();
        link = current;
      }
      connected = true;
      doing.on(current);
      return null;
    } catch (SQLException e) {
      return failure(e, sent[0] && connected);
    } catch (StoreUnfitException e) {
      return new Failure(Trouble.UNFIT, false, e);
    } catch (RuntimeException e) {
      rollBack();
      return new Failure(Trouble.UNFIT, sent[0] && connected, e);
    } finally {
      turn.unlock();
    }
  }

  private void transact(Link current, List<Work> works, boolean[] sent) throws SQLException {
    if (works.size() == 1) {
      // A single statement commits by itself.
      sent[0] = true;
      if (works.get(0).fast(current)) {
        return;
      }
      sent[0] = false;
      current.begin();
      works.get(0).run(current);
    } else {
      current.begin();
      for (Work work : works) {
        if (!work.fast(current)) {
          work.run(current);
        }
      }
    }
    sent[0] = true;
    current.commit();
  }

  private Failure failure(SQLException e, boolean sent) {
    Failure failure = Failure.of(e, database, sent);
    LOG.debug("Transaction on {} failed: {} ({})", display(), failure.trouble(), e.getMessage());
    rollBack();
    if (failure.trouble() == Trouble.BROKEN) {
      dropLink();
    }
    return failure;
  }

  private void rollBack() {
    Link current = link;
    if (current != null) {
      try {
        current.rollback();
      } catch (SQLException e) {
        LOG.debug("Roll-back on {} failed", display(), e);
        dropLink();
      }
    }
  }

  private void dropLink() {
    Link current = link;
    link = null;
    if (current != null) {
      try {
        current.close();
      } catch (SQLException e) {
        LOG.debug("Closing a connection to {} failed", display(), e);
      }
    }
  }

  private static void pause(int tries) {
    if (tries < 3) {
      Thread.onSpinWait();
    } else {
      long most = Math.min(2_000_000, 50_000L << Math.min(tries, 6) >> 2);
      LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(20_000, most + 20_001));
    }
  }

  private static void safely(Runnable answer) {
    try {
      answer.run();
    } catch (RuntimeException e) {
      LOG.warn("A receiver of answers threw an exception", e);
    }
  }

  private void handOver() {
    handedOver = true;
    Thread running = thread;
    if (running == null) {
      running = start();
    }
    LockSupport.unpark(running);
  }

  private Thread start() {
    threadGuard.lock();
    try {
      Thread running = thread;
      if (running == null) {
        running = new Thread(this::serve, name);
        running.setDaemon(true);
        running.start();
        thread = running;
      }
      return running;
    } finally {
      threadGuard.unlock();
    }
  }

  private void serve() {
    while (true) {
      if (handedOver) {
        handedOver = false;
        drain(false);
      } else if (ended) {
        return;
      } else if (!aside.isEmpty()) {
        LockSupport.parkNanos(this, Math.max(1, aside.nanosLeft()));
        if (aside.nanosLeft() <= 0 && baton.compareAndSet(false, true)) {
          drain(false);
        }
      } else {
        LockSupport.park(this);
      }
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
    LockSupport.unpark(thread);
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
      Link current = link;
      if (current != null) {
        try {
          current.leave();
        } catch (SQLException e) {
          LOG.debug("A connection to {} keeps its settings", display(), e);
        }
      }
      dropLink();
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
