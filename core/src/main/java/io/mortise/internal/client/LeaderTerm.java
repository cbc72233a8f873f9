package io.mortise.internal.client;

import io.mortise.FencingToken;
import io.mortise.Leadership;
import io.mortise.Lease;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A term of a candidate, which ends with its lease. */
final class LeaderTerm implements Leadership.Term {
  final Lease lease;
  final long began;

  /** The candidate's guard. */
  private final ReentrantLock guard;

  /** The term's number for listeners; 0 if the store has no tokens. */
  final long number;

  volatile boolean stopAsked;

  /** The thread that runs the task, while it does. Changes under the guard. */
  volatile @Nullable Thread runner;

  // Guarded by the guard.
  boolean taskEnded;
  boolean releasing;
  boolean released;

  LeaderTerm(Lease lease, long began, ReentrantLock guard) {
    this.lease = lease;
    this.began = began;
    this.guard = guard;
    LeaseImpl held = LeaseLeakDetector.unwrap(lease);
    this.number = held.hasToken() ? held.rawToken() : 0;
  }

  String tokenText() {
    return number == 0 ? "none" : Long.toString(number);
  }

  /** Marks the task as begun; returns false if it need not begin any more. */
  boolean enter() {
    guard.lock();
    try {
      runner = Thread.currentThread();
      return !isLost() && !stopAsked;
    } finally {
      guard.unlock();
    }
  }

  void leave() {
    guard.lock();
    try {
      runner = null;
    } finally {
      guard.unlock();
    }
  }

  /** Called under the guard. */
  void interrupt() {
    Thread present = runner;
    if (present != null) {
      present.interrupt();
    }
  }

  @Override
  public String name() {
    return lease.name();
  }

  boolean isLost() {
    return lease.state() == Lease.State.LOST;
  }

  @Override
  public long token() {
    return lease.token();
  }

  @Override
  public FencingToken fencingToken() {
    return lease.fencingToken();
  }

  @Override
  public boolean isLeading() {
    return !stopAsked && lease.isValid();
  }

  @Override
  public boolean isValid() {
    return lease.isValid();
  }

  @Override
  public void ensureValid() {
    lease.ensureValid();
  }

  @Override
  public Duration remaining() {
    return lease.remaining();
  }

  @Override
  public String toString() {
    return "Term[" + name() + ", token=" + tokenText() + ", leading=" + isLeading() + "]";
  }
}
