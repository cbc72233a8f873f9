package io.mortise.internal.engine.state;

import io.mortise.Lease;
import io.mortise.LeaseLostException;
import io.mortise.function.CheckedSupplier;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Interrupts a thread if a lease is lost while it runs a task, and never afterwards: the scope's
 * end and the interrupt exclude each other, so that no interrupt hits the thread's next actions.
 */
final class InterruptibleScope {
  /** A lease from which listeners can be removed. */
  interface LosableLease extends Lease {
    /** Removes the listener. */
    void forgetLost(Consumer<? super LeaseLostException> listener);

    /** The loss of a lease that is lost, or whose time is over. */
    LeaseLostException loss();
  }

  private final LosableLease lease;
  private final ReentrantLock guard = new ReentrantLock();
  private @Nullable Thread runner = Thread.currentThread();
  private @Nullable LeaseLostException loss;

  InterruptibleScope(LosableLease lease) {
    this.lease = lease;
  }

  <T extends @Nullable Object, X extends Exception> T run(CheckedSupplier<T, X> task) throws X {
    lease.ensureValid();
    Consumer<LeaseLostException> onLost = this::interrupt;
    lease.onLost(onLost);
    T result;
    try {
      result = task.get();
    } catch (Exception e) {
      LeaseLostException lost = leave(onLost);
      if (lost != null) {
        throw again(lost, e);
      }
      throw e;
    } catch (Error e) {
      var unused = leave(onLost);
      throw e;
    }
    LeaseLostException lost = leave(onLost);
    if (lost != null) {
      throw again(lost, null);
    }
    return result;
  }

  private void interrupt(LeaseLostException lost) {
    guard.lock();
    try {
      loss = lost;
      if (runner != null) {
        runner.interrupt();
      }
    } finally {
      guard.unlock();
    }
  }

  private static LeaseLostException again(LeaseLostException lost, @Nullable Exception failure) {
    LeaseLostException here =
        new LeaseLostException(String.valueOf(lost.getMessage()), lost.end(), lost);
    if (failure != null) {
      here.addSuppressed(failure);
    }
    return here;
  }

  private @Nullable LeaseLostException leave(Consumer<LeaseLostException> onLost) {
    lease.forgetLost(onLost);
    guard.lock();
    try {
      runner = null;
      if (loss != null) {
        // The interrupt was sent by this scope, and the exception answers it.
        boolean ignored = Thread.interrupted();
        return loss;
      }
    } finally {
      guard.unlock();
    }
    // Its time may be over before its timer has run: the process may have been paused.
    return lease.state() == Lease.State.LOST ? lease.loss() : null;
  }
}
