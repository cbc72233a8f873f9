package io.mortise.jdbc;

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
final class Baton {
  private static final long NAP_NANOS = 500_000;

  /**
   * What was set aside and is due may be in somebody's hands: no reason to turn round and round.
   */
  private static final long LEAST_REST_NANOS = 50_000;

  private enum Laid {
    /** Somebody has it, or nobody needs it. */
    NOT,
    /** For the thread that laid it down, or for the lane's a moment later. */
    FOR_LATER,
    DOWN,
    /** For the lane's thread. */
    GIVEN
  }

  /** What the lane's thread does. */
  interface Duty {
    /** Works, with the baton in hand, which it must drop or lay down. */
    void work();

    /** How long until there is work that nobody asks for; {@link Long#MAX_VALUE} if never. */
    long nanosLeft();

    /** Whether there will be nothing to do any more. */
    boolean isOver();
  }

  private final String name;
  private final Duty duty;
  private final AtomicBoolean taken = new AtomicBoolean();
  private final AtomicReference<Laid> laid = new AtomicReference<>(Laid.NOT);

  /** How often a thread worked for itself. */
  private final AtomicInteger loans = new AtomicInteger();

  private final ReentrantLock threadGuard = new ReentrantLock();
  private volatile @Nullable Thread thread;

  /** Who borrowed it last. */
  private volatile @Nullable Thread borrower;

  private volatile boolean dozing;

  Baton(String name, Duty duty) {
    this.name = name;
    this.duty = duty;
  }

  /** Returns whether the caller has it now. */
  boolean take() {
    return taken.compareAndSet(false, true);
  }

  /** The caller has it no more, nor has anybody. */
  void drop() {
    taken.set(false);
  }

  /** Gives it to the lane's thread, and to nobody else. */
  void handOver() {
    laid.set(Laid.GIVEN);
    wake();
  }

  /** The caller lays it down, for the lane's thread if it does not {@link #borrow} it soon. */
  void layDown() {
    laid.set(Laid.DOWN);
    wakeUnlessBorrower();
  }

  /** As {@link #layDown}, for work that may wait a moment. */
  void layDownForLater() {
    laid.set(Laid.FOR_LATER);
    if (!dozing) {
      wake();
    }
  }

  /** There is work that may not wait. */
  void hurry() {
    if (laid.get() == Laid.FOR_LATER && laid.compareAndSet(Laid.FOR_LATER, Laid.DOWN)) {
      wakeUnlessBorrower();
    }
  }

  private void wakeUnlessBorrower() {
    if (!dozing || borrower != Thread.currentThread()) {
      wake();
    }
  }

  /** Picks it up if it lies there. Who gets it must {@link #giveBack}, and drop or lay it down. */
  boolean borrow() {
    Laid now = laid.get();
    return (now == Laid.DOWN || now == Laid.FOR_LATER) && laid.compareAndSet(now, Laid.NOT);
  }

  /** The borrower has worked; it has the baton still. */
  void giveBack() {
    borrower = Thread.currentThread();
    loans.incrementAndGet();
  }

  /** Has the lane's thread look at its {@link Duty} again, if there is one. */
  void nudge() {
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
      Laid now = laid.get();
      if (now == Laid.DOWN || now == Laid.GIVEN || (now == Laid.FOR_LATER && waited)) {
        waited = false;
        if (laid.compareAndSet(now, Laid.NOT)) {
          duty.work();
        }
      } else if (duty.isOver()) {
        return;
      } else {
        boolean doze = now == Laid.FOR_LATER || loans.get() != seen;
        seen = loans.get();
        rest(doze);
        waited = now == Laid.FOR_LATER;
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
    long left = duty.nanosLeft();
    if (doze || laid.get() == Laid.NOT) {
      long pause = doze ? Math.min(NAP_NANOS, left) : left;
      if (pause == Long.MAX_VALUE) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, Math.max(LEAST_REST_NANOS, pause));
      }
    }
    if (left != Long.MAX_VALUE && duty.nanosLeft() <= 0 && take()) {
      duty.work();
    }
  }
}
