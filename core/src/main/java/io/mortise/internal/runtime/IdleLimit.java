package io.mortise.internal.runtime;

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A limit of idle items over all their owners together. Above it, the item that has been idle
 * longest is ended, regardless of its owner. Thread-safe.
 */
public final class IdleLimit {
  private final int most;
  private final AtomicInteger idle = new AtomicInteger();
  private final List<IdleOwner> owners = new CopyOnWriteArrayList<>();

  /** Held by the one thread that ends surplus items: two threads would end one more than needed. */
  private final ReentrantLock trimming = new ReentrantLock();

  /** A limit of the given number. */
  public IdleLimit(int most) {
    this.most = most;
  }

  /** An owner that shares a limit. Called with no lock held except the limit's own. */
  public interface IdleOwner {
    /**
     * The begin of its oldest item's idleness, by the owners' common clock; empty without items.
     */
    OptionalLong oldestSince();

    /** Ends its oldest item, if that has been idle since the given time. */
    void endOldest(long since);
  }

  /** Adds an owner that shares the limit, for good. */
  public void add(IdleOwner owner) {
    owners.add(owner);
  }

  /**
   * Counts one more idle item. Ends nothing: the caller may hold a lock.
   *
   * @return whether there are too many, so that {@link #trim} is to be called
   */
  public boolean begins() {
    return idle.incrementAndGet() > most;
  }

  /** Counts one idle item less. */
  public void ends() {
    idle.decrementAndGet();
  }

  /** Ends the oldest while there are too many. The caller holds no lock. */
  public void trim() {
    // An item that is added while another thread trims was counted before: that thread sees it.
    while (idle.get() > most && trimming.tryLock()) {
      try {
        endOldest();
      } finally {
        trimming.unlock();
      }
    }
  }

  private void endOldest() {
    IdleOwner found = null;
    long since = 0;
    for (IdleOwner owner : owners) {
      OptionalLong oldest = owner.oldestSince();
      if (oldest.isPresent() && (found == null || oldest.getAsLong() - since < 0)) {
        found = owner;
        since = oldest.getAsLong();
      }
    }
    @Nullable IdleOwner owner = found;
    if (owner != null) {
      owner.endOldest(since);
    }
  }
}
