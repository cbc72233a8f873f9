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
 * database on the same host. A thread that has done so some times in a row is trusted to come back
 * for what it lays down: the lane's thread is not even woken; it dozes, and looks so seldom that it
 * takes no time from those who work. How long it dozes is how late something is served at worst if
 * the trusted one does not come back; then it is trusted no more. Two threads that take turns wake
 * the lane's thread in vain, and lose nothing but that.
 *
 * <p><b>For later.</b> What may wait a moment for what comes next does so for as long as a nap
 * takes; while there is such work the lane's thread naps instead of dozing.
 */
final class Baton {
  private static final long NAP_NANOS = 500_000;

  /** A wake-up costs a virtual machine some 50 µs, which whoever works there may need. */
  private static final long DOZE_NANOS = 5_000_000;

  /** So often in a row a thread has to come back for what it laid down, until it is trusted. */
  private static final int TRUSTED = 8;

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

  /** How the lane's thread rests. */
  private enum Rest {
    /** Until it is woken, or does not rest. */
    NONE,
    NAP,
    DOZE
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

  /** How often something was laid down for later. */
  private final AtomicInteger laters = new AtomicInteger();

  private final ReentrantLock threadGuard = new ReentrantLock();
  private volatile @Nullable Thread thread;

  /** Who borrowed it last. */
  private volatile @Nullable Thread borrower;

  /** How often in a row that was the borrower. Belongs to whoever has the baton. */
  private int inARow;

  private volatile Rest rest = Rest.NONE;

  /** The lane's thread was woken since it lay down. */
  private volatile boolean woken;

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
    // Asked before it lies there: from then on it may be somebody else's.
    boolean comesBack = isTrusted();
    laid.set(Laid.DOWN);
    wakeUnless(comesBack);
  }

  /** As {@link #layDown}, for work that may wait a moment. */
  void layDownForLater() {
    laters.incrementAndGet();
    laid.set(Laid.FOR_LATER);
    if (rest != Rest.NAP) {
      wake();
    }
  }

  /** There is work that may not wait. */
  void hurry() {
    if (laid.get() == Laid.FOR_LATER && laid.compareAndSet(Laid.FOR_LATER, Laid.DOWN)) {
      // Who has laid it down for later is not the one to ask for it now, or will be in a moment.
      wakeUnless(borrower == Thread.currentThread());
    }
  }

  private boolean isTrusted() {
    return borrower == Thread.currentThread() && inARow >= TRUSTED;
  }

  private void wakeUnless(boolean comesBack) {
    if (rest == Rest.NONE || !comesBack) {
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
    Thread current = Thread.currentThread();
    inARow = borrower == current ? Math.min(inARow + 1, TRUSTED) : 1;
    borrower = current;
    loans.incrementAndGet();
  }

  /** Has the lane's thread look at its {@link Duty} again, if there is one. */
  void nudge() {
    LockSupport.unpark(thread);
  }

  private void wake() {
    woken = true;
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
    int loansSeen = 0;
    int latersSeen = 0;
    boolean waited = false;
    while (true) {
      Laid now = laid.get();
      if (now == Laid.DOWN || now == Laid.GIVEN || (now == Laid.FOR_LATER && waited)) {
        waited = false;
        boolean late = now == Laid.DOWN && !woken;
        if (laid.compareAndSet(now, Laid.NOT)) {
          if (late) {
            inARow = 0;
          }
          duty.work();
        }
      } else if (duty.isOver()) {
        return;
      } else {
        Rest next =
            now == Laid.FOR_LATER || laters.get() != latersSeen
                ? Rest.NAP
                : loans.get() != loansSeen ? Rest.DOZE : Rest.NONE;
        loansSeen = loans.get();
        latersSeen = laters.get();
        rest(next);
        waited = now == Laid.FOR_LATER;
      }
    }
  }

  private void rest(Rest next) {
    woken = false;
    // Written before it is looked whether something lies there: who lays it down looks in the other
    // order.
    rest = next;
    if (next == Rest.NONE) {
      borrower = null;
    }
    long left = duty.nanosLeft();
    if (next != Rest.NONE || laid.get() == Laid.NOT) {
      long pause =
          switch (next) {
            case NONE -> left;
            case NAP -> Math.min(NAP_NANOS, left);
            case DOZE -> Math.min(DOZE_NANOS, left);
          };
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
