package io.mortise.spring;

import io.mortise.Lease;
import io.mortise.LockClient;
import io.mortise.LockName;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A lease with its users: the call that acquired it, nested calls that joined it, and a transaction
 * that releases it at its end. The last user's release releases the lease. Thread-safe.
 */
final class Hold {
  /** This thread's holds that a transaction uses, including those of a suspended transaction. */
  private static final ThreadLocal<@Nullable List<Hold>> UNTIL_COMMIT = new ThreadLocal<>();

  private final @Nullable LockClient client;
  private final boolean shared;
  private final Lease lease;
  private final Thread owner = Thread.currentThread();
  private final AtomicInteger uses = new AtomicInteger(1);

  /**
   * Starts with one use.
   *
   * @param client null for a hold that cannot be joined
   */
  Hold(@Nullable LockClient client, boolean shared, Lease lease) {
    this.client = client;
    this.shared = shared;
    this.lease = lease;
  }

  Lease lease() {
    return lease;
  }

  /**
   * Adds a use beside an existing one. A subscription that is cancelled meanwhile may have ended
   * that one: then the lease is released already, and stays so.
   */
  void retain() {
    int unused = uses.getAndIncrement();
  }

  /** Ends a use. Returns whether it was the last: the caller then releases the lease. */
  private boolean isLastUse() {
    return uses.decrementAndGet() == 0;
  }

  boolean isEnded() {
    return uses.get() <= 0;
  }

  void release() {
    if (isLastUse()) {
      lease.close();
    }
  }

  CompletableFuture<Void> releaseAsync() {
    return isLastUse() ? lease.releaseAsync() : CompletableFuture.completedFuture(null);
  }

  /** Lets this thread find it until its last use is over, also while none of its calls runs. */
  void keepUntilCommit() {
    List<Hold> mine = UNTIL_COMMIT.get();
    if (mine == null) {
      mine = new ArrayList<>(2);
      UNTIL_COMMIT.set(mine);
    }
    mine.add(this);
  }

  /**
   * Adds a use of this thread's hold on that lock.
   *
   * @return null if it does not hold it
   * @throws IllegalStateException if it holds it shared and wants it exclusively
   */
  static @Nullable Hold join(LockClient client, String name, boolean shared) {
    Hold found = find(client, name);
    if (found == null) {
      return null;
    }
    if (found.shared && !shared) {
      throw new IllegalStateException(
          "This thread holds lock '"
              + LockName.of(name)
              + "' shared and asks for it exclusively: it would wait for itself. Take the lock"
              + " exclusively in the outer call.");
    }
    found.retain();
    return found;
  }

  private static @Nullable Hold find(LockClient client, String name) {
    for (LockContext at = LockContext.innermost(); at != null; at = at.outer()) {
      for (Hold hold : at.holds()) {
        if (hold.isOf(client, name)) {
          return hold;
        }
      }
    }
    dropEnded();
    List<Hold> untilCommit = UNTIL_COMMIT.get();
    if (untilCommit != null) {
      for (Hold hold : untilCommit) {
        if (hold.isOf(client, name)) {
          return hold;
        }
      }
    }
    return null;
  }

  /** Drops this thread's holds that are over; a transaction may have ended on another thread. */
  static void dropEnded() {
    List<Hold> untilCommit = UNTIL_COMMIT.get();
    if (untilCommit != null && untilCommit.removeIf(Hold::isEnded) && untilCommit.isEmpty()) {
      UNTIL_COMMIT.remove();
    }
  }

  /**
   * Only for the acquiring thread: two threads that received a context would otherwise run at the
   * same time, each under a lock that it takes for its own.
   */
  private boolean isOf(LockClient wanted, String name) {
    return client == wanted
        && lease.name().equals(name)
        && owner == Thread.currentThread()
        && !isEnded();
  }
}
