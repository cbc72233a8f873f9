package io.mortise.jdbc;

import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.jdbc.Database.Trouble;
import io.mortise.spi.LockName;
import io.mortise.spi.News;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
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
 * that nobody serves others for long. A server is asked by the lane's thread, or by a thread that
 * waits for its answer anyway ({@link #help}); one that an interrupt would break by the former
 * only.
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

  /**
   * What a thread that serves itself does: that of one, to give one lock back and take the next.
   */
  private static final int FEW = 2;

  /** How long a caller tries against another process before it hands the baton on. */
  private static final long CALLER_PATIENCE = Duration.ofMillis(1).toNanos();

  private final Database database;
  private final ReentrantLock turn;
  private final Consumer<List<News>> told;
  private final ConcurrentLinkedQueue<Work> queue = new ConcurrentLinkedQueue<>();
  private final Baton baton;
  private volatile boolean closed;
  private volatile boolean ended;

  // Belong to whoever has the baton.
  private List<Work> batch = new ArrayList<>();
  private @Nullable Link link;
  private long lastUsed;

  /** Whether that is a thread that waits for its own answer. */
  private boolean lent;

  /**
   * How many were served at a time lately. While the lane's thread wakes, others gather: who serves
   * himself at once makes batches smaller, and pays more than he gains.
   */
  private volatile int crowd;

  private final SetAside aside = new SetAside();

  /** Why nobody of this batch can connect. */
  private @Nullable Failure outage;

  /**
   * @param turn held while a transaction runs, so that lanes to one file queue instead of colliding
   * @param told receives the news of each transaction after its commit, before the answers
   */
  Lane(String name, Database database, ReentrantLock turn, Consumer<List<News>> told) {
    this.database = database;
    this.turn = turn;
    this.told = told;
    this.baton = new Baton(name, new ThreadsDuty());
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
    lent = true;
    try {
      serveAll();
    } finally {
      lent = false;
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
    if (closed || link == null || isLinkStale() || !aside.isEmpty() || !batch.isEmpty()) {
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
    boolean restedBefore = !aside.isEmpty();
    outage = null;
    while (!works.isEmpty()) {
      List<Work> behind = new ArrayList<>();
      serveFirst(works, behind);
      works = behind;
    }
    aside.roundEnds(restedBefore);
  }

  /** What is asked of one lock at a time. */
  private static final class Step {
    Work work;

    /** A release of the same lock that goes before it, in the same step if possible. */
    @Nullable Work given;

    final boolean hasFastPath;
    boolean answered;

    /** Something of the same lock waits behind it already: what comes next must not overtake. */
    boolean isFollowed;

    Step(Work work) {
      this.work = work;
      this.hasFastPath = work.hasFastPath();
    }

    /** Takes in what comes after it; false if the two cannot go together. */
    boolean takesIn(Work next) {
      if (given == null
          && !isFollowed
          && hasFastPath
          && work.request() instanceof Request.Abandon
          && next.request() instanceof Request.Acquire
          && next.hasFastPath()) {
        given = work;
        work = next;
        return true;
      }
      return false;
    }

    Rows.Ask ask() {
      return new Rows.Ask(
          Objects.requireNonNull(work.request()),
          given == null ? null : Objects.requireNonNull(given.request()).attempt());
    }
  }

  /**
   * Serves one of each lock, the first, and whoever takes what that one gives back.
   *
   * @param behind gets the others, which may depend on it
   */
  private void serveFirst(List<Work> works, List<Work> behind) {
    List<Step> first = new ArrayList<>(works.size());
    Map<LockName, Step> last = new HashMap<>();
    for (Work work : works) {
      Request request = work.request();
      Step before = request == null ? null : last.get(request.name());
      if (before == null) {
        Step step = new Step(work);
        first.add(step);
        if (request != null) {
          last.put(request.name(), step);
        }
      } else if (!before.takesIn(work)) {
        before.isFollowed = true;
        behind.add(work);
      }
    }
    first.removeIf(this::isStillLocked);
    together(first);
    for (Step step : first) {
      if (!step.answered) {
        if (step.given != null) {
          serve(step.given);
        }
        serve(step.work);
      }
    }
  }

  /** Looks once more at a row that was locked, before others travel with who wants it. */
  private boolean isStillLocked(Step step) {
    Work oldest = step.given == null ? step.work : step.given;
    Request request = oldest.request();
    if (!oldest.wasSetAside || request == null || closed) {
      return false;
    }
    Failure failure =
        attempt(current -> current.locks.ensureUnlocked(request.name()), new boolean[] {false});
    if (failure == null || failure.trouble() != Trouble.BUSY) {
      return false;
    }
    setAsideOrFail(oldest, failure);
    if (step.given != null) {
      setAsideOrFail(step.work, failure);
    }
    return true;
  }

  private void serve(Work work) {
    if (aside.blocks(work)) {
      aside.add(work);
      return;
    }
    // Who cannot connect does not try for each: that may take as long as an answer may.
    Failure known = closed ? Failure.closed(database) : outage;
    Failure failure = known != null ? known : attempt(List.of(work));
    if (failure == null) {
      finish(List.of(work));
      return;
    }
    if (failure.trouble() == Trouble.BROKEN && link == null && !failure.mayHaveRun()) {
      outage = failure;
    }
    setAsideOrFail(work, failure);
  }

  private void setAsideOrFail(Work work, Failure failure) {
    if (failure.trouble() == Trouble.BUSY
        && !closed
        && System.nanoTime() - work.since < database.patience().toNanos()) {
      aside.add(work);
    } else {
      fail(work, failure);
    }
  }

  /** Answers by one statement whom it can. */
  private void together(List<Step> steps) {
    List<Step> asked = new ArrayList<>(steps.size());
    List<Rows.Ask> asks = new ArrayList<>(steps.size());
    for (Step step : steps) {
      if (step.hasFastPath) {
        asked.add(step);
        asks.add(step.ask());
      }
    }
    if (closed || asked.isEmpty() || (asked.size() == 1 && asked.get(0).given == null)) {
      return;
    }
    List<@Nullable Reply> replies = new ArrayList<>();
    Failure failure =
        attempt(link -> replies.addAll(link.locks.together(asks)), new boolean[] {true});
    List<Work> answered = new ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      Step step = asked.get(i);
      Work given = step.given;
      if (failure != null) {
        step.answered = failure.mayHaveRun();
        if (step.answered && given != null) {
          fail(given, failure);
        }
        if (step.answered) {
          fail(step.work, failure);
        }
        continue;
      }
      Reply reply = replies.get(i);
      if (reply != null) {
        step.answered = true;
        if (given != null) {
          given.take(LockSteps.released(asks.get(i).releasing()));
          answered.add(given);
        }
        step.work.take(reply);
        answered.add(step.work);
      } else {
        step.work.leftOut();
        if (given != null) {
          given.leftOut();
        }
      }
    }
    finish(answered);
  }

  private static void fail(Work work, Failure failure) {
    safely(() -> work.failed(failure.trouble(), failure.mayHaveRun(), failure.cause()));
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
          fail(work, own);
        }
      }
      return;
    }
    for (Work work : failed) {
      fail(work, failure);
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
      if (isLinkStale()) {
        dropLink();
      }
      lastUsed = now;
      Link current = link;
      if (current == null && lent) {
        return new Failure(Trouble.BUSY, false, notConnected());
      } else if (current == null) {
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

  private RuntimeException notConnected() {
    return new StoreUnavailableException("Store '" + display() + "' is not connected.");
  }

  private boolean isLinkStale() {
    return System.nanoTime() - lastUsed > database.idleLimit().toNanos();
  }

  private void transact(Link current, List<Work> works, boolean[] sent) throws SQLException {
    if (works.size() == 1) {
      // A single statement commits by itself.
      sent[0] = true;
      if (works.get(0).fast(current)) {
        return;
      }
      sent[0] = false;
      current.begin(works.get(0).request());
      works.get(0).run(current);
    } else {
      current.begin(null);
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
