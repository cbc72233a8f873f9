package io.mortise.bench.subject;

import java.util.List;

/**
 * A lock library, or a hand-written protocol, that is measured. One per process, opened once and
 * used by all its threads.
 */
public interface Subject extends AutoCloseable {
  /** Access to one lock. Called by the thread that will use it, and used by that thread alone. */
  LockHandle lockHandle(String lock) throws Exception;

  /**
   * Acquires a lock without releasing it.
   *
   * @return the object that an application needs to release it
   */
  default Object hold(String lock, long waitMillis) throws Exception {
    LockHandle lockHandle = lockHandle(lock);
    if (!lockHandle.take(waitMillis)) {
      throw new IllegalStateException("Lock '" + lock + "' was not acquired.");
    }
    return lockHandle;
  }

  /**
   * Access to several locks, acquired all or none. Confined to a thread like {@link #lockHandle}.
   */
  default LockHandle groupHandle(List<String> locks) throws Exception {
    throw new UnsupportedOperationException("It takes one lock at a time.");
  }

  /** A method that returns its argument, run under that lock. Used by one thread. */
  default LockedCall call(String lock) {
    throw new UnsupportedOperationException("It runs no methods.");
  }

  /** Called when a thread that used handles ends; closes resources kept per thread. */
  default void onThreadExit() throws Exception {}

  @Override
  void close();

  /** A method under a lock. */
  interface LockedCall {
    /** Takes the lock, runs the method, gives the lock back. Blocks. */
    long run(long argument) throws Exception;
  }

  /** One thread's access to one lock. */
  interface LockHandle {
    /** Waits at most this long; returns whether the lock is now held. */
    boolean take(long waitMillis) throws Exception;

    void release() throws Exception;
  }
}
