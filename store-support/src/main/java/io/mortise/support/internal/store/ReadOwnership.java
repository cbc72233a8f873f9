package io.mortise.support.internal.store;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Decides which thread reads from a connection: the transport's own (the reader), or a caller that
 * waits for its answer. A caller that reads its own answer is woken by its arrival and by nothing
 * else. If the reader read for it, there would be two threads to wake, which takes longer than the
 * answer.
 *
 * <p>The reader steps aside when one caller after the other has offered to read and nothing was
 * pushed meanwhile, that is, while one thread takes and gives back locks that nobody else wants.
 * From then on it looks twice a millisecond whether somebody still reads; if not, it takes its turn
 * back. A reply that comes when the callers have stopped is read that much later, at worst. A
 * caller that leaves while something is still expected, and a sender for whom nobody will read,
 * wake the reader at once.
 */
public final class ReadOwnership {
  private static final int OFFERS = 16;
  private static final long NAP_NANOS = 500_000;

  private enum ReadOwner {
    READER,
    NOBODY,
    CALLER
  }

  private final Thread reader;
  private final AtomicReference<ReadOwner> holder = new AtomicReference<>(ReadOwner.READER);

  /** How many callers in a row could have read. */
  private final AtomicInteger offers = new AtomicInteger();

  /** How often a caller did. */
  private final AtomicInteger loans = new AtomicInteger();

  private volatile boolean recalled;

  /** The transport's own thread reads at first. */
  public ReadOwnership(Thread reader) {
    this.reader = reader;
  }

  /** A caller would like to read. If this returns true it must, and then {@link #release}. */
  public boolean tryAcquire() {
    if (holder.compareAndSet(ReadOwner.NOBODY, ReadOwner.CALLER)) {
      return true;
    }
    offers.incrementAndGet();
    return false;
  }

  /**
   * The caller has read enough. If something is still expected it must then {@link
   * #recallReader()}.
   */
  public void release() {
    loans.incrementAndGet();
    holder.set(ReadOwner.NOBODY);
  }

  /** The reader should read, now and for some time. */
  public void recallReader() {
    if (offers.get() != 0) {
      offers.set(0);
    }
    if (holder.get() != ReadOwner.READER) {
      recalled = true;
      LockSupport.unpark(reader);
    }
  }

  /** The reader, between two answers: lets callers read for as long as they do. */
  public void yieldToCallers() {
    if (offers.get() <= OFFERS) {
      return;
    }
    offers.set(0);
    recalled = false;
    holder.set(ReadOwner.NOBODY);
    int seen = loans.get();
    while (true) {
      LockSupport.parkNanos(this, NAP_NANOS);
      int now = loans.get();
      if ((recalled || now == seen) && holder.compareAndSet(ReadOwner.NOBODY, ReadOwner.READER)) {
        return;
      }
      seen = now;
    }
  }
}
