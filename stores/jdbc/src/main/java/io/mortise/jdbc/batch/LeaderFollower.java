package io.mortise.jdbc.batch;

import io.mortise.internal.runtime.DaemonThreads;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the thread that works for a {@link ConnectionExecutor}: its leader. A thread takes the
 * lead to work at once, or offers it to the executor's own thread.
 *
 * <p><b>Callers.</b> A thread that waits for its answer anyway may take an offered lead ({@link
 * #tryLeadAsCaller}) and work itself: to wake the executor's thread, which then wakes it, takes
 * about as long as a request to a database on the same host. While one thread does so repeatedly,
 * the executor's thread is not woken, and looks twice a millisecond; so a request is served half a
 * millisecond late at worst. Two threads that alternate wake it in vain, at no other cost.
 */
final class LeaderFollower {
  private static final long POLL_NANOS = 500_000;

  /**
   * The shortest rest: a task that is due may be run by a caller, so that looking again at once
   * would only spin.
   */
  private static final long LEAST_REST_NANOS = 50_000;

  private enum OfferState {
    /** There is a leader, or nothing to do. */
    NONE,
    /** For the thread that offered it, or for the executor's a moment later. */
    OFFERED_LATER,
    OFFERED,
    /** For the executor's thread. */
    HANDED_OVER
  }

  /** The work of a leader, and when the executor's thread should look for some. */
  interface LeaderTask {
    /** Works as the leader, which must resign, or offer the lead. */
    void work();

    /** How long until there is work that nobody asks for; {@link Long#MAX_VALUE} if never. */
    long nanosLeft();

    /** Whether there will be nothing to do any more. */
    boolean isOver();
  }

  private final String name;
  private final LeaderTask leaderTask;
  private final AtomicBoolean taken = new AtomicBoolean();
  private final AtomicReference<OfferState> offerState = new AtomicReference<>(OfferState.NONE);

  /** How often a caller has led. */
  private final AtomicInteger callerLeads = new AtomicInteger();

  private final ReentrantLock threadGuard = new ReentrantLock();
  private volatile @Nullable Thread thread;

  /** The caller that led last. */
  private volatile @Nullable Thread lastCaller;

  private volatile boolean isPolling;

  LeaderFollower(String name, LeaderTask leaderTask) {
    this.name = name;
    this.leaderTask = leaderTask;
  }

  /** Returns whether the caller leads now. */
  boolean tryLead() {
    return taken.compareAndSet(false, true);
  }

  /** The caller leads no more, nor does any other thread. */
  void resign() {
    taken.set(false);
  }

  /** Gives the lead to the executor's thread, and to no other. */
  void handToThread() {
    offerState.set(OfferState.HANDED_OVER);
    wake();
  }

  /**
   * Offers the lead: to the executor's thread, unless the caller does {@link #tryLeadAsCaller}
   * soon.
   */
  void offerLead() {
    offerState.set(OfferState.OFFERED);
    wakeUnlessLastCaller();
  }

  /** As {@link #offerLead}, for work that may wait a moment. */
  void offerLeadLater() {
    offerState.set(OfferState.OFFERED_LATER);
    if (!isPolling) {
      wake();
    }
  }

  /** There is work that may not wait. */
  void expedite() {
    if (offerState.get() == OfferState.OFFERED_LATER
        && offerState.compareAndSet(OfferState.OFFERED_LATER, OfferState.OFFERED)) {
      wakeUnlessLastCaller();
    }
  }

  private void wakeUnlessLastCaller() {
    if (!isPolling || lastCaller != Thread.currentThread()) {
      wake();
    }
  }

  /**
   * Takes the lead if it is offered. The caller must then {@link #endCallerLead}, and resign or
   * hand it on.
   */
  boolean tryLeadAsCaller() {
    OfferState now = offerState.get();
    return (now == OfferState.OFFERED || now == OfferState.OFFERED_LATER)
        && offerState.compareAndSet(now, OfferState.NONE);
  }

  /** The caller has worked; it leads still. */
  void endCallerLead() {
    lastCaller = Thread.currentThread();
    callerLeads.incrementAndGet();
  }

  /** Has the executor's thread look at its {@link LeaderTask} again, if there is one. */
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
        running = DaemonThreads.create(name, this::run);
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
      if (now == OfferState.OFFERED
          || now == OfferState.HANDED_OVER
          || (now == OfferState.OFFERED_LATER && waited)) {
        waited = false;
        if (offerState.compareAndSet(now, OfferState.NONE)) {
          leaderTask.work();
        }
      } else if (leaderTask.isOver()) {
        return;
      } else {
        boolean polls = now == OfferState.OFFERED_LATER || callerLeads.get() != seen;
        seen = callerLeads.get();
        rest(polls);
        waited = now == OfferState.OFFERED_LATER;
      }
    }
  }

  private void rest(boolean polls) {
    // Written before the offer is read: a thread that offers the lead does both in the other order.
    isPolling = polls;
    if (!polls) {
      lastCaller = null;
    }
    long left = leaderTask.nanosLeft();
    if (polls || offerState.get() == OfferState.NONE) {
      long pause = polls ? Math.min(POLL_NANOS, left) : left;
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
