package io.mortise.jdbc.batch;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Who works on a lane: whoever has the baton. It is taken by a thread that works at once, or laid
 * down for the lane's own thread.
 *
 * <p><b>Borrowed.</b> A thread that waits for its answer anyway may pick up what it has laid down
 * and work itself: to wake the lane's thread, which then wakes it, takes about as long as a
 * database on the same host. While one thread does so again and again, the lane's thread is not
 * even woken; it dozes, looking twice a millisecond, which is how late something is served at worst
 * if that thread lays the baton down and does not come back for it. Two threads that take turns
 * wake it in vain, and lose nothing but that.
 */
final class LeaderFollower {
  private static final long NAP_NANOS = 500_000;

  /**
   * What was set aside and is due may be in somebody's hands: no reason to turn round and round.
   */
  private static final long LEAST_REST_NANOS = 50_000;

  private enum OfferState {
    /** Somebody has it, or nobody needs it. */
    NOT,
    /** For the thread that laid it down, or for the lane's a moment later. */
    FOR_LATER,
    DOWN,
    /** For the lane's thread. */
    GIVEN
  }

  /** What the lane's thread does. */
  interface LeaderTask {
    /** Works, with the baton in hand, which it must drop or lay down. */
    void work();

    /** How long until there is work that nobody asks for; {@link Long#MAX_VALUE} if never. */
    long nanosLeft();

    /** Whether there will be nothing to do any more. */
    boolean isOver();
  }

  private final String name;
  private final LeaderTask leaderTask;
  private final AtomicBoolean taken = new AtomicBoolean();
  private final AtomicReference<OfferState> offerState = new AtomicReference<>(OfferState.NOT);

  /** How often a thread worked for itself. */
  private final AtomicInteger loans = new AtomicInteger();

  private final ReentrantLock threadGuard = new ReentrantLock();
  private volatile @Nullable Thread thread;

  /** Who borrowed it last. */
  private volatile @Nullable Thread borrower;

  private volatile boolean dozing;

  LeaderFollower(String name, LeaderTask leaderTask) {
    this.name = name;
    this.leaderTask = leaderTask;
  }

  /** Returns whether the caller has it now. */
  boolean tryLead() {
    return taken.compareAndSet(false, true);
  }

  /** The caller has it no more, nor has anybody. */
  void resign() {
    taken.set(false);
  }

  /** Gives it to the lane's thread, and to nobody else. */
  void handToThread() {
    offerState.set(OfferState.GIVEN);
    wake();
  }

  /**
   * The caller lays it down, for the lane's thread if it does not {@link #tryLeadAsCaller} it soon.
   */
  void offerLead() {
    offerState.set(OfferState.DOWN);
    wakeUnlessBorrower();
  }

  /** As {@link #offerLead}, for work that may wait a moment. */
  void offerLeadLater() {
    offerState.set(OfferState.FOR_LATER);
    if (!dozing) {
      wake();
    }
  }

  /** There is work that may not wait. */
  void expedite() {
    if (offerState.get() == OfferState.FOR_LATER
        && offerState.compareAndSet(OfferState.FOR_LATER, OfferState.DOWN)) {
      wakeUnlessBorrower();
    }
  }

  private void wakeUnlessBorrower() {
    if (!dozing || borrower != Thread.currentThread()) {
      wake();
    }
  }

  /**
   * Picks it up if it lies there. Who gets it must {@link #endCallerLead}, and drop or lay it down.
   */
  boolean tryLeadAsCaller() {
    OfferState now = offerState.get();
    return (now == OfferState.DOWN || now == OfferState.FOR_LATER)
        && offerState.compareAndSet(now, OfferState.NOT);
  }

  /** The borrower has worked; it has the baton still. */
  void endCallerLead() {
    borrower = Thread.currentThread();
    loans.incrementAndGet();
  }

  /** Has the lane's thread look at its {@link LeaderTask} again, if there is one. */
  void wakeThread() {
    LockSupport.unpark(thread);
  }

  private void wake() {
    Thread running = thread;
    LockSupport.unpark(running == null ? start() : running);
  }

  private Thread start() {
    threadGuard.lock();
    try {
      Thread running = thread;
      if (running == null) {
        running = new Thread(this::run, name);
        running.setDaemon(true);
        running.start();
        thread = running;
      }
      return running;
    } finally {
      threadGuard.unlock();
    }
  }

  private void run() {
    int seen = 0;
    boolean waited = false;
    while (true) {
      OfferState now = offerState.get();
      if (now == OfferState.DOWN
          || now == OfferState.GIVEN
          || (now == OfferState.FOR_LATER && waited)) {
        waited = false;
        if (offerState.compareAndSet(now, OfferState.NOT)) {
          leaderTask.work();
        }
      } else if (leaderTask.isOver()) {
        return;
      } else {
        boolean doze = now == OfferState.FOR_LATER || loans.get() != seen;
        seen = loans.get();
        rest(doze);
        waited = now == OfferState.FOR_LATER;
      }
    }
  }

  private void rest(boolean doze) {
    // Written before it is looked whether something lies there: who lays it down looks in the other
    // order.
    dozing = doze;
    if (!doze) {
      borrower = null;
    }
    long left = leaderTask.nanosLeft();
    if (doze || offerState.get() == OfferState.NOT) {
      long pause = doze ? Math.min(NAP_NANOS, left) : left;
      if (pause == Long.MAX_VALUE) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, Math.max(LEAST_REST_NANOS, pause));
      }
    }
    if (left != Long.MAX_VALUE && leaderTask.nanosLeft() <= 0 && tryLead()) {
      leaderTask.work();
    }
  }
}
