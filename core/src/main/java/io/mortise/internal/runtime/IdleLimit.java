package io.mortise.internal.runtime;

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * How many things may be idle, over all their owners together. Of more, the one that has been idle
 * longest is ended, whose ever it is. Thread-safe.
 */
public final class IdleLimit {
  private final int most;
  private final AtomicInteger idle = new AtomicInteger();
  private final List<IdleOwner> owners = new CopyOnWriteArrayList<>();

  /** Held by the one thread that ends what is too many: two would end one more than needed. */
  private final ReentrantLock trimming = new ReentrantLock();

  /** A limit of so many. */
  public IdleLimit(int most) {
    this.most = most;
  }

  /** One of those who share a limit. Called with no lock held but the limit's own. */
  public interface IdleOwner {
    /** Since when its oldest is idle, by a clock that all owners share; empty if it has none. */
    OptionalLong oldestSince();

    /** Ends its oldest, if that is idle since then. */
    void endOldest(long since);
  }

  /** Has an owner share the limit, for good. */
  public void add(IdleOwner owner) {
    owners.add(owner);
  }

  /**
   * One more is idle. Ends nothing: the caller may hold a lock.
   *
   * @return whether there are too many, so that {@link #trim} is to be called
   */
  public boolean begins() {
    return idle.incrementAndGet() > most;
  }

  /** One less is idle. */
  public void ends() {
    idle.decrementAndGet();
  }

  /** Ends the oldest while there are too many. The caller holds no lock. */
  public void trim() {
    // One that comes while another trims has been counted before: the other sees it.
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
