package io.mortise.support.internal.server;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Decides which thread reads from a connection: the transport's own (the reader), or a caller that
 * waits for its answer. A caller that reads its own answer is woken only by its arrival. If the
 * reader read for it, two threads would have to wake, which takes longer than the answer.
 *
 * <p>The reader yields when one caller after the other has offered to read and nothing was pushed
 * meanwhile, that is, while one thread acquires and releases locks without contention. From then on
 * it checks twice a millisecond whether a caller still reads; if not, it reads again. A reply that
 * comes after the callers have stopped is read at most that much later. A caller that leaves while
 * an answer is still expected, and a sender without a reading caller, wake the reader at once.
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

  /** The number of callers in a row that could have read. */
  private final AtomicInteger offers = new AtomicInteger();

  /** The number of times that a caller did. */
  private final AtomicInteger loans = new AtomicInteger();

  private volatile boolean recalled;

  /** The transport's own thread reads first. */
  public ReadOwnership(Thread reader) {
    this.reader = reader;
  }

  /** Offers to read. If this returns true, the caller must read, and then {@link #release}. */
  public boolean tryAcquire() {
    if (holder.compareAndSet(ReadOwner.NOBODY, ReadOwner.CALLER)) {
      return true;
    }
    offers.incrementAndGet();
    return false;
  }

  /** Ends the caller's reading. If an answer is expected, it must then {@link #recallReader()}. */
  public void release() {
    loans.incrementAndGet();
    holder.set(ReadOwner.NOBODY);
  }

  /** Makes the reader read, now and for some time. */
  public void recallReader() {
    if (offers.get() != 0) {
      offers.set(0);
    }
    if (holder.get() != ReadOwner.READER) {
      recalled = true;
      LockSupport.unpark(reader);
    }
  }

  /** Called by the reader between two answers: lets callers read as long as they do. */
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
