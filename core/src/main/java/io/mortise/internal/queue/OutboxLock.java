package io.mortise.internal.queue;

import io.mortise.spi.Request;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A short lock over passive state, and the calls that follow from a change of that state. Nobody
 * waits, does I/O or calls a sink, a listener or a store under the lock: what is to be called is
 * queued under it and called after it was let go.
 *
 * <p><b>Two queues.</b> Calls of {@link #afterUnlock} are made by the thread that queued them, in
 * the order in which it did; calls of two threads may overlap. Calls of {@link #send} are made by
 * one thread at a time, in the order of a {@link RequestQueue}. The thread that finds nobody
 * sending sends for all others until nothing is left. A thread makes its own calls before it sends.
 *
 * <p><b>Who may call what.</b> Any thread may lock. {@link #afterUnlock} and {@link #send} want the
 * lock held. Calls are made with this lock not held, and may lock again, queue and send. A thread
 * that has the lock may lock again: its calls are made when it lets go for the last time.
 *
 * <p><b>Failures.</b> A call that throws keeps none behind it from being made. {@link #unlock}
 * throws the first failure when all calls were made; later ones are suppressed in it.
 */
public class OutboxLock {
  private static final Runnable[] NONE = {};

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock.
  private final ArrayDeque<Runnable> calls = new ArrayDeque<>(1);
  private final RequestQueue<Runnable> outbox = new RequestQueue<>();
  private boolean sending;

  /** A lock that is free, with nothing to be called. */
  public OutboxLock() {}

  /** Blocks until no other thread has the lock. */
  public final void lock() {
    lock.lock();
  }

  /** Lets go of the lock, and makes the calls that were queued under it. */
  public void unlock() {
    if (lock.getHoldCount() > 1) {
      lock.unlock();
      return;
    }
    Runnable[] due = NONE;
    if (!calls.isEmpty()) {
      due = calls.toArray(NONE);
      calls.clear();
    }
    boolean send = !sending && !outbox.isEmpty();
    sending |= send;
    lock.unlock();
    makeCalls(due, send);
  }

  /** Changes the state under the lock, then makes the calls that this has queued. */
  public final void run(Runnable change) {
    lock();
    try {
      change.run();
    } finally {
      unlock();
    }
  }

  /** Reads the state under the lock. */
  public final <T> T get(Supplier<T> reading) {
    lock();
    try {
      return reading.get();
    } finally {
      unlock();
    }
  }

  /** Under the lock: to be called by this thread when it has let go. */
  public final void afterUnlock(Runnable call) {
    calls.add(call);
  }

  /** Under the lock: to be called without it, after all that was to be sent before. */
  public final void send(Runnable call) {
    outbox.add(null, call);
  }

  /** As {@link #send(Runnable)}, for a call that submits a request: acquires go last. */
  public final void send(Request request, Runnable call) {
    outbox.add(request, call);
  }

  private void makeCalls(Runnable[] due, boolean send) {
    Throwable failure = null;
    for (Runnable call : due) {
      failure = call(call, failure);
    }
    for (Runnable next = send ? nextToSend() : null; next != null; next = nextToSend()) {
      failure = call(next, failure);
    }
    if (failure instanceof Error error) {
      throw error;
    } else if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }

  private static @Nullable Throwable call(Runnable call, @Nullable Throwable before) {
    try {
      call.run();
    } catch (RuntimeException | Error e) {
      if (before == null) {
        return e;
      } else if (before != e) {
        before.addSuppressed(e);
      }
    }
    return before;
  }

  private @Nullable Runnable nextToSend() {
    lock.lock();
    try {
      Runnable next = outbox.poll();
      sending = next != null;
      return next;
    } finally {
      lock.unlock();
    }
  }
}
